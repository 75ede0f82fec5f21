/** POST /api/send/batch: each email is judged, sent and answered on its own. */
import { randomBytes, randomUUID } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGatedSink, type GatedSink } from '../helpers/gated-sink.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type Json = Record<string, unknown>;
interface Answer {
  readonly status: number;
  readonly results: readonly Json[];
  readonly json: Json;
  readonly replayed: string | null;
}

let sink: GatedSink;
let database: TestDatabase;
let service: ServiceProcess;

const env = () => ({ DATABASE_URL: database.connectionString, SMTP_URL: sink.url });

beforeAll(async () => {
  [sink, database] = await Promise.all([startGatedSink(), createTestDatabase()]);
  service = await startServiceProcess({ env: env() });
});
afterEach(() => sink.open());
afterAll(async () => {
  await disposeService(service);
  await sink.stop();
  await database.drop();
});

const mail = (fields: Json = {}): Json => ({
  to: 'ann@example.com',
  subject: 'Angebot',
  text_body: 'Hallo',
  ...fields,
});
const mails = (count: number, subject: string) =>
  Array.from({ length: count }, (_, index) => mail({ subject: `${subject} ${index}` }));

async function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await service.request('/api/send/batch', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const json = (await response.json()) as Json;
  const { results = [] } = json as { results?: Json[] };
  return { status: response.status, json, results, replayed: response.headers.get('idempotency-replayed') };
}

const ASYNC = { prefer: 'respond-async' };
const statusesOf = ({ results }: Answer) => results.map(({ status }) => status);
const received = (text: string) => sink.messages.filter(({ raw }) => raw.toString('latin1').includes(text));
const count = async (text: string): Promise<number> => {
  const [row] = await query(
    database.connectionString,
    `select count(*) as n from emails where subject like '${text}%'`,
  );
  return Number(row?.['n']);
};

describe('a batch', () => {
  it('answers for each email in its order, and one that is refused stops no other', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await post({
      emails: [
        mail(),
        mail({ to: 'no address' }),
        mail({ send_at: later }),
        'no object',
        mail({ betreff: 'x' }),
        mail({ thread_id: randomUUID() }),
        mail({ text_body: null }),
        mail(),
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.results.map(({ status, http_status: code, code: error }) => [status, code, error])).toEqual(
      [
        ['sent', 200, undefined],
        ['error', 400, 'invalid_address'],
        ['queued', 202, undefined],
        ['error', 400, 'invalid_request'],
        ['error', 400, 'unknown_field'],
        ['error', 404, 'thread_not_found'],
        ['error', 400, 'missing_body'],
        ['sent', 200, undefined],
      ],
    );
    const [first] = answer.results;
    expect(Object.keys(first ?? {}).sort()).toEqual(['http_status', 'id', 'messageId', 'status', 'threadId']);
    expect(sink.byMessageId(String(first?.['messageId']))).toHaveLength(1);
    expect(answer.results[1]?.['error']).toBe('Ungültige E-Mail-Adresse in to: no address');
  });

  it(
    'of 500 is queued in a few statements, each email in a thread of its own',
    { tags: ['long'] },
    async () => {
      const subject = randomUUID();
      const answer = await post({ emails: mails(500, subject) }, { ...ASYNC, 'idempotency-key': subject });
      expect(new Set(statusesOf(answer))).toEqual(new Set(['queued']));
      expect(new Set(answer.results.map(({ threadId }) => threadId)).size).toBe(500);
      // Rows contain the transaction that wrote them.
      const [row] = await query(
        database.connectionString,
        `select count(*) as emails, count(distinct m.xmin::text) as commits
      from emails e join thread_message_ids m on (m.account_id, m.message_id) = (e.account_id, e.message_id)
      where e.subject like '${subject}%'`,
      );
      expect(Number(row?.['emails'])).toBe(500);
      expect(Number(row?.['commits'])).toBeLessThan(60);
      await waitUntil('all are sent', () => received(subject).length === 500);
    },
  );

  it('sends the large files of each email with it, and with no other', async () => {
    const files = [300_000, 2_000_000, 10].map((size) => randomBytes(size));
    const answer = await post({
      emails: files.map((content, index) =>
        mail({
          attachments: [{ filename: `${index}.bin`, content: content.toString('base64') }],
          // One through the queue, one directly.
          ...(index === 1 ? { send_at: new Date(Date.now() + 3_600_000).toISOString() } : {}),
        }),
      ),
    });
    expect(statusesOf(answer)).toEqual(['sent', 'queued', 'sent']);
    await query(
      database.connectionString,
      `update send_queue set due_at = now(), send_at = null where email_id = '${String(answer.results[1]?.['id'])}'`,
    );
    for (const [index, content] of files.entries()) {
      const messageId = String(answer.results[index]?.['messageId']);
      await waitUntil('it is sent', () => sink.byMessageId(messageId).length === 1);
      const { attachments } = await simpleParser(sink.byMessageId(messageId)[0]!.raw);
      expect(attachments.map((file) => file.content.equals(content))).toEqual([true]);
    }
  });

  it.each([
    ['no object', '[]', 400, 'invalid_request'],
    ['no emails', '{}', 400, 'invalid_request'],
    ['an empty list', '{"emails":[]}', 400, 'invalid_request'],
    ['another field', '{"emails":[{}],"from":"x"}', 400, 'unknown_field'],
    ['too many', JSON.stringify({ emails: mails(501, 'x') }), 400, 'invalid_request'],
    ['no JSON', '{"emails":[', 400, 'invalid_json'],
  ])('is refused as a whole: %s', async (_name, body, status, code) => {
    const answer = await post(body);
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
  });

  it('is refused as a whole when its files are too large together', async () => {
    const file = { filename: 'a', content: Buffer.alloc(13 * 1024 * 1024).toString('base64') };
    const subject = randomUUID();
    const answer = await post({
      emails: [mail({ subject, attachments: [file] }), mail({ subject, attachments: [file] })],
    });
    expect([answer.status, answer.json['code']]).toEqual([413, 'attachments_too_large']);
    expect(await count(subject)).toBe(0);
  });
});

describe('an idempotency key of a batch', () => {
  it('gives the same results again, and tries only what was not tried', async () => {
    const key = randomUUID();
    const headers = { 'idempotency-key': key };
    const emails = [...mails(3, key), mail({ to: 'no address', subject: key })];
    const first = await post({ emails }, headers);
    const again = await post({ emails }, headers);
    expect(again.json).toEqual(first.json);
    expect([first.replayed, again.replayed]).toEqual([null, 'true']);
    expect(statusesOf(first)).toEqual(['sent', 'sent', 'sent', 'error']);

    const corrected = await post({ emails: [...emails.slice(0, 3), mail({ subject: `${key} 3` })] }, headers);
    expect(corrected.results.slice(0, 3)).toEqual(first.results.slice(0, 3));
    expect([corrected.results[3]?.['status'], corrected.replayed]).toEqual(['sent', null]);
    expect(received(key)).toHaveLength(4);

    const other = await post({ emails: [mail({ subject: 'other' }), ...emails.slice(1)] }, headers);
    expect(other.results.map(({ code }) => code)).toEqual([
      'idempotency_key_reused',
      undefined,
      undefined,
      'idempotency_key_reused',
    ]);
    // The key of a single send is a different one.
    const single = await service.request('/api/send', { json: mail({ subject: `${key} single` }), headers });
    expect(single.status).toBe(200);
  });

  it('takes the longest key, and the last place', async () => {
    const key = randomUUID().padEnd(256, 'x');
    // Not sent while later tests wait for their own emails.
    const send_at = new Date(Date.now() + 86_400_000).toISOString();
    const emails = mails(500, key.slice(0, 36)).map((one) => ({ ...one, send_at }));
    const answer = await post({ emails }, { ...ASYNC, 'idempotency-key': key });
    expect(new Set(statusesOf(answer))).toEqual(new Set(['queued']));
  });

  it('sends each email once when two requests come at the same moment', async () => {
    const key = randomUUID();
    const body = { emails: mails(40, key) };
    const answers = await Promise.all([1, 2, 3].map(() => post(body, { ...ASYNC, 'idempotency-key': key })));
    const ends = answers.flatMap(({ results }) => results.map(({ status, code }) => code ?? status));
    expect(ends.filter((end) => end !== 'queued' && end !== 'idempotency_in_progress')).toEqual([]);
    const last = await post(body, { ...ASYNC, 'idempotency-key': key });
    expect(new Set(statusesOf(last))).toEqual(new Set(['queued']));
    expect(await count(key)).toBe(40);
    await waitUntil('all are sent', () => received(key).length === 40);
  });

  it('sends each email once when the process is killed in the middle', { tags: ['long'] }, async () => {
    const key = randomUUID();
    const headers = { 'idempotency-key': key };
    const body = { emails: mails(30, key) };
    sink.close();
    const lost = post(body, headers).catch(() => null);
    await sink.reached();
    const { dataDir } = service;
    await service.kill();
    expect(await lost).toBeNull();
    sink.open();
    service = await startServiceProcess({
      dataDir,
      env: { ...env(), DATABASE_STATEMENT_TIMEOUT_MS: '3000' },
    });
    await waitUntil('nothing is in progress', async () => {
      const { results } = await post(body, headers);
      return results.every(({ code }) => code !== 'idempotency_in_progress');
    });
    const { results } = await post(body, headers);
    // Emails that were being handed over when the process ended are unknown; all others are sent.
    const ends = results.map(({ status, code }) => code ?? status);
    expect(ends.filter((end) => end !== 'sent' && end !== 'send_unknown')).toEqual([]);
    const sent = results.filter(({ status }) => status === 'sent').length;
    expect(sent).toBeGreaterThan(0);
    const copies = results.map((_, index) => received(`Subject: ${key} ${index}\r\n`).length);
    expect(Math.max(...copies)).toBe(1);
    expect(results.filter(({ status }, index) => status === 'sent' && copies[index] !== 1)).toEqual([]);
  });
});
