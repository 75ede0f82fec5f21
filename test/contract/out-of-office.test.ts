/**
 * Automatic answers while the people of an account are away (RFC 3834): two services on one database, a real SMTP server, a real Dovecot,
 * and services that are killed.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SinkMessage, type SmtpSink } from '../helpers/smtp-sink.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let sink: SmtpSink;
let env: Record<string, string>;
let one: ServiceProcess;
let two: ServiceProcess;

const AWAY = { text: 'Wir haben Betriebsferien.', html: '<p>Wir haben <b>Betriebsferien</b>.</p>' };

beforeAll(async () => {
  [database, folder, sink] = await Promise.all([createTestDatabase(), makeTempFolder(), startSmtpSink()]);
  const account = (id: string, outOfOffice: object | null, fields: object = {}) => ({
    id,
    from: `${id} <${id}@firma.test>`,
    smtp_url: sink.url,
    out_of_office: outOfOffice,
    ...fields,
  });
  const file = path.join(folder.path, 'accounts.json');
  const accounts = [
    account('here', null),
    account('away', AWAY, {
      footer_text: 'GmbH, HRB 1',
      addresses: [{ address: 'angebote@firma.test', name: 'Angebote' }],
    }),
    account('english', { ...AWAY, language: 'en', from: inHours(-1), until: inHours(1) }),
    account('over', { ...AWAY, until: inHours(-1) }),
    account('later', { ...AWAY, from: inHours(1), subject: 'Urlaub' }),
    account('named', { ...AWAY, subject: 'Urlaub bis Montag' }),
  ];
  await writeFile(file, JSON.stringify(accounts));
  env = {
    DATABASE_URL: database.connectionString,
    ACCOUNTS_FILE: file,
    LMTP_LISTEN: '127.0.0.1:0',
    SECRETS_KEY: 'secrets-key-of-a-test-0123456789',
  };
  [one, two] = await Promise.all([startServiceProcess({ env }), startServiceProcess({ env })]);
});
afterAll(async () => {
  await Promise.all([one, two].map((service) => disposeService(service)));
  await Promise.all([sink.stop(), folder.remove()]);
  await database.drop();
});

let people = 0;
const someone = () => `person${(people += 1)}@kunde.test`;

/** A message as a server that took it now hands it over. */
function letter(from: string, fields: Parameters<typeof mail>[0] = {}, at = new Date()): string {
  const { headers = [], ...others } = fields;
  const trace = `Received: from mx.kunde.test by mx.firma.test; ${at.toUTCString().replace('GMT', '+0000')}`;
  return `Return-Path: <${from}>\r\n${mail({
    from,
    to: 'away@firma.test',
    subject: 'Angebot',
    headers: [trace, ...headers],
    ...others,
  })}`;
}

const answersTo = (address: string): readonly SinkMessage[] =>
  sink.messages.filter(({ rcptTo }) => rcptTo.includes(address));
const textOf = ({ raw }: SinkMessage) => raw.toString().replaceAll('\r\n ', ' ').replaceAll('\r\n', '\n');
const fieldOf = (message: SinkMessage, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'm').exec(textOf(message))?.[1] ?? null;

async function answerTo(address: string): Promise<SinkMessage> {
  await waitUntil(`${address} has an answer`, () => answersTo(address).length > 0);
  return answersTo(address)[0] as SinkMessage;
}

const rows = (sql: string, values: unknown[] = []) => query(database.connectionString, sql, values);

/** Everything that was received is decided about, and every answer is recorded. */
async function allIsDecided(): Promise<void> {
  await waitUntil('all is decided', async () => {
    const [row] = await rows(
      `select (select count(*) from absence_requests)::int
        + (select count(*) from absence_answers where next_try_at is not null)::int
        + (select count(*) from send_queue)::int as waiting`,
    );
    return row?.waiting === 0;
  });
}

describe('a person who writes', () => {
  it('gets one answer, by the rules of RFC 3834, which no person wrote', async () => {
    const from = someone();
    const messageId = newId();
    const { threadId } = await receive(
      one,
      letter(from, { messageId, to: 'Angebote <ANGEBOTE@firma.test>' }),
      '?account_id=away',
    );
    const answer = await answerTo(from);
    expect(answer.rcptTo).toEqual([from]);
    expect(answer.mailFrom).toBe('angebote@firma.test');
    expect(fieldOf(answer, 'From')).toBe('Angebote <angebote@firma.test>');
    expect(fieldOf(answer, 'To')).toBe(from);
    expect(fieldOf(answer, 'Subject')).toBe('Automatische Antwort: Angebot');
    expect(fieldOf(answer, 'Auto-Submitted')).toBe('auto-replied');
    expect(fieldOf(answer, 'X-Auto-Response-Suppress')).toContain('OOF');
    expect(fieldOf(answer, 'In-Reply-To')).toBe(messageId);
    expect(fieldOf(answer, 'References')).toBe(messageId);
    expect(textOf(answer)).toContain('Wir haben Betriebsferien.');
    expect(textOf(answer)).toContain('<b>Betriebsferien</b>');
    expect(textOf(answer)).not.toContain('HRB 1');

    // That a program answered does not make a writer known.
    await waitUntil('the addresses are learned', async () => {
      const [row] = await rows('select count(*)::int as n from search_queue');
      return row?.n === 0;
    });
    const [known] = await rows('select is_written_to from known_addresses where address = $1', [from]);
    expect(known).toEqual({ is_written_to: false });

    const page = await getJson<{ thread: object; emails: { id: string }[] }>(one, `/api/threads/${threadId}`);
    expect(page.thread).toMatchObject({ status: 'open', unanswered: true, email_count: 2 });
    const own = await getJson<object>(one, `/api/emails/${page.emails[1]?.id ?? page.emails[0]?.id ?? ''}`);
    const other = await getJson<object>(one, `/api/emails/${page.emails[0]?.id ?? ''}`);
    expect([own, other]).toContainEqual(
      expect.objectContaining({
        direction: 'outbound',
        thread_id: threadId,
        author: null,
        tags: ['out-of-office'],
        automatic: expect.objectContaining({ kind: 'auto_reply' }) as unknown,
      }),
    );
  });

  it('gets no second one within seven days, and another one after them', async () => {
    const from = someone();
    await receive(one, letter(from), '?account_id=away');
    await answerTo(from);
    await receive(two, letter(from.toUpperCase(), { subject: 'Nachfrage' }), '?account_id=away');
    await allIsDecided();
    expect(answersTo(from)).toHaveLength(1);
    await rows(
      `update absence_answers set chosen_at = chosen_at - interval '7 days 1 minute' where address = $1`,
      [from],
    );
    await receive(two, letter(from, { subject: 'Noch da?' }), '?account_id=away');
    await waitUntil('the second answer is there', () => answersTo(from).length > 1);
    await allIsDecided();
    expect(answersTo(from)).toHaveLength(2);
  });

  it('gets one answer whatever the detail of the address is', async () => {
    const from = someone();
    const [first, second] = ['one', 'two'].map((detail) => from.replace('@', `+${detail}@`));
    await receive(one, letter(first!), '?account_id=away');
    await answerTo(first!);
    await receive(one, letter(second!), '?account_id=away');
    await allIsDecided();
    expect(answersTo(second!)).toEqual([]);
  });

  it('gets none while it is blocked', async () => {
    const from = someone();
    const blocked = await one.request('/api/blocked-senders', { json: { sender: from } });
    expect(blocked.status).toBe(200);
    await receive(one, letter(from), '?account_id=away');
    await allIsDecided();
    expect(answersTo(from)).toEqual([]);
  });

  it('gets one answer to many emails and variants at the same moment, by two services', async () => {
    const from = someone();
    const messageId = newId();
    const variants = ['a', 'b', 'c', 'c'].map((body) => letter(from, { messageId, body }));
    const others = ['1', '2', '3', '4', '5', '6'].map((subject) => letter(from, { subject }));
    await Promise.all(
      [...variants, ...others].map((raw, index) =>
        receive(index % 2 === 0 ? one : two, raw, '?account_id=away'),
      ),
    );
    await answerTo(from);
    await allIsDecided();
    expect(answersTo(from)).toHaveLength(1);
  });

  it.each([
    ['english', 'Automatic reply: Angebot'],
    ['named', 'Urlaub bis Montag'],
  ])('reads the subject of the account %s: %s', async (id, subject) => {
    const from = someone();
    await receive(one, letter(from, { to: `${id}@firma.test` }), `?account_id=${id}`);
    expect(fieldOf(await answerTo(from), 'Subject')).toBe(subject);
  });

  it('gets an answer to mail that a server hands over by LMTP, at its envelope sender alone', async () => {
    const [from, forged, victim] = [someone(), someone(), someone()];
    const line = one.log.find((text) => text.includes('"protocol":"lmtp","address"'));
    const port = Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line ?? '')?.[1]);
    const transport = createTransport({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true });
    for (const [writer, sender] of [
      [from, from],
      [forged, victim],
    ] as const)
      await transport.sendMail({
        envelope: { from: sender, to: ['away@firma.test'] },
        raw: mail({ from: writer, to: 'away@firma.test' }),
      });
    transport.close();
    await answerTo(from);
    await allIsDecided();
    expect([...answersTo(forged), ...answersTo(victim)]).toEqual([]);
  });
});

describe('no answer goes to', () => {
  it.each([
    ['an account whose people are there', 'here', {}],
    ['mail after the absence', 'over', {}],
    ['mail before it', 'later', {}],
    ['a program', 'away', { headers: ['Auto-Submitted: auto-generated'] }],
    ['a list', 'away', { headers: ['List-Id: <news.kunde.test>'] }],
    ['mail that is not addressed to the account', 'away', { to: 'here@firma.test' }],
  ])('%s', async (_title, id, fields) => {
    const from = someone();
    await receive(one, letter(from, { to: `${id}@firma.test`, ...fields }), `?account_id=${id}`);
    await allIsDecided();
    expect(answersTo(from)).toEqual([]);
  });

  it('mail that arrived more than a day ago, or of which it is not known when', async () => {
    const [old, unknown] = [someone(), someone()];
    await receive(one, letter(old, {}, new Date(Date.now() - 25 * HOUR_MS)), '?account_id=away');
    await receive(
      one,
      `Return-Path: <${unknown}>\r\n${mail({ from: unknown, to: 'away@firma.test' })}`,
      '?account_id=away',
    );
    await allIsDecided();
    expect([...answersTo(old), ...answersTo(unknown)]).toEqual([]);
  });

  it('a stranger in a thread, whom an answer would make a participant', async () => {
    const [customer, stranger] = [someone(), someone()];
    const messageId = newId();
    const { threadId } = await receive(one, letter(customer, { messageId }), '?account_id=away');
    const joined = await receive(
      one,
      letter(stranger, { inReplyTo: messageId, references: [messageId] }),
      '?account_id=away',
    );
    expect(joined.threadId).toBe(threadId);
    await answerTo(customer);
    await allIsDecided();
    expect(answersTo(stranger)).toEqual([]);
  });

  it('more people than an account answers in a day', async () => {
    const from = someone();
    await rows(
      `insert into absence_answers (account_id, address, email_id, next_try_at)
      select 'named', 'filler' || n || '@kunde.test', (select id from emails limit 1), null from generate_series(1, 500) n`,
    );
    await receive(one, letter(from, { to: 'named@firma.test' }), '?account_id=named');
    await allIsDecided();
    expect(answersTo(from)).toEqual([]);
    await rows(`delete from absence_answers where address like 'filler%'`);
  });

  it('an address that nothing is sent to', async () => {
    const from = someone();
    await one.request(`/api/suppressions/${from}`, { method: 'PUT', json: {} });
    await receive(one, letter(from), '?account_id=away');
    await allIsDecided();
    expect(answersTo(from)).toEqual([]);
  });
});

it('makes no work when the answer bounces or is refused', async () => {
  const from = someone();
  const { threadId } = await receive(one, letter(from), '?account_id=away');
  const messageId = String(fieldOf(await answerTo(from), 'Message-ID'));
  await allIsDecided();
  await one.request(`/api/threads/${threadId}`, { method: 'PATCH', json: { status: 'done' } });
  await receive(
    one,
    deliveryReport(messageId, [{ address: from }], { to: 'away@firma.test' }),
    '?account_id=away',
  );
  const refused = `${someone().split('@')[0] ?? ''}@refused.test`;
  const second = await receive(one, letter(refused), '?account_id=away');
  await waitUntil('both failures are recorded', async () => {
    const [row] = await rows(
      `select (select count(*) from delivery_reports)::int + (select count(*) from emails where state = 'failed')::int as n`,
    );
    return row?.n === 2;
  });
  const recordOf = (id: string) => getJson<{ thread: object }>(one, `/api/threads/${id}`);
  expect((await recordOf(threadId)).thread).toMatchObject({ status: 'done', undelivered: 0 });
  expect((await recordOf(second.threadId)).thread).toMatchObject({ status: 'open', undelivered: 0 });
});

describe('a service that is killed', () => {
  it('between the record of the email and the decision loses no answer', async () => {
    const from = someone();
    const other = await startServiceProcess({ env });
    await Promise.all([one.kill(), two.kill()]);
    const lock = new Client({ connectionString: database.connectionString });
    await lock.connect();
    await lock.query(
      'set search_path to email_worker, public; begin; lock table absence_answers in access exclusive mode',
    );
    await receive(other, letter(from), '?account_id=away');
    await other.kill();
    await disposeService(other);
    await lock.query('commit');
    await lock.end();
    expect(answersTo(from)).toEqual([]);
    await Promise.all([one, two].map((service) => disposeService(service)));
    [one, two] = await Promise.all([startServiceProcess({ env }), startServiceProcess({ env })]);
    await answerTo(from);
    await allIsDecided();
    expect(answersTo(from)).toHaveLength(1);
  });

  it('between the record of the answer and its end sends it once', async () => {
    const from = someone();
    await receive(one, letter(from), '?account_id=away');
    await answerTo(from);
    await allIsDecided();
    // As the killed process left it.
    await rows('update absence_answers set next_try_at = now() where address = $1', [from]);
    await allIsDecided();
    expect(answersTo(from)).toHaveLength(1);
    const [row] = await rows(
      `select count(*)::int as n from emails where to_addresses @> jsonb_build_array(jsonb_build_object('address', $1::text))`,
      [from],
    );
    expect(row?.n).toBe(1);
  });
});

describe('an account of the API', () => {
  const ask = async (method: string, target: string, json: object, version?: string) => {
    const response = await one.request(target, {
      method,
      json,
      ...(version === undefined ? {} : { headers: { 'if-match': version } }),
    });
    return {
      status: response.status,
      etag: response.headers.get('etag') ?? '',
      json: (await response.json()) as {
        code?: string;
        error?: string;
        settings?: { out_of_office: object | null };
      },
    };
  };

  it('is away as soon as it is set, and answers no more once it is removed', async () => {
    const settings = { from: 'neu@firma.test', smtp_url: sink.url };
    const made = await ask('POST', '/api/accounts', { id: 'neu', ...settings });
    expect(made.status).toBe(201);
    const away = await ask('PATCH', '/api/accounts/neu', { out_of_office: { text: 'Bin weg.' } }, made.etag);
    expect(away.json.settings?.out_of_office).toEqual({
      from: null,
      until: null,
      subject: null,
      language: null,
      text: 'Bin weg.',
      html: null,
    });
    const from = someone();
    await receive(one, letter(from, { to: 'neu@firma.test' }), '?account_id=neu');
    expect(textOf(await answerTo(from))).toContain('Bin weg.');
    const back = await ask('PATCH', '/api/accounts/neu', { out_of_office: null }, away.etag);
    expect(back.json.settings?.out_of_office).toBeNull();
    const late = someone();
    await receive(one, letter(late, { to: 'neu@firma.test' }), '?account_id=neu');
    await allIsDecided();
    expect(answersTo(late)).toEqual([]);
  });

  it.each([
    ['without a text', {}],
    ['with an empty text', { text: ' ' }],
    ['with an unknown field', { text: 'x', ende: 'morgen' }],
    ['with a time without offset', { text: 'x', from: '2026-12-24T00:00:00' }],
    [
      'that ends before it begins',
      { text: 'x', from: '2026-12-24T00:00:00Z', until: '2026-12-23T00:00:00Z' },
    ],
    ['with a subject of two lines', { text: 'x', subject: 'a\nBcc: b@c.test' }],
    ['in another language', { text: 'x', language: 'fr' }],
    ['with a text beyond the limit', { text: 'x'.repeat(20_001) }],
  ])('refuses an absence %s', async (_title, absence) => {
    const answer = await ask('POST', '/api/accounts', {
      id: 'falsch',
      from: 'falsch@firma.test',
      out_of_office: absence,
    });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toMatch(/^(?:invalid_account|invalid_request|unknown_field)$/);
  });
});

describe.skipIf(skipWithoutMailServers())('a mailbox', () => {
  let dovecot: DovecotServer;
  beforeAll(async () => {
    dovecot = await startDovecot();
  });
  afterAll(() => dovecot.stop());

  it('answers what arrives from now on, and nothing that was there before', async () => {
    const [before, now] = [someone(), someone()];
    const put = (raw: string, at: Date) =>
      dovecot.withClient('alice', async (client) => {
        await client.append('INBOX', Buffer.from(raw), [], at);
      });
    await put(letter(before, { to: 'alice@example.test' }), new Date());
    const made = await one.request('/api/accounts', {
      method: 'POST',
      json: {
        id: 'alice',
        from: 'alice@example.test',
        smtp_url: sink.url,
        imap_url: dovecot.urlOf('alice'),
        out_of_office: { text: 'Bin im Urlaub.' },
      },
    });
    expect(made.status).toBe(201);
    await waitUntil('the mailbox is read', async () => {
      const [row] = await rows(`select count(*)::int as n from emails where account_id = 'alice'`);
      return row?.n === 1;
    });
    // As a program puts an archive into the mailbox
    const old = someone();
    const lastYear = new Date(Date.now() - 365 * 86_400_000);
    await put(letter(old, { to: 'alice@example.test' }, lastYear), new Date(Date.now() + 2000));
    // A mailbox has whole seconds.
    await put(letter(now, { to: 'alice@example.test' }), new Date(Date.now() + 2000));
    expect(textOf(await answerTo(now))).toContain('Bin im Urlaub.');
    await allIsDecided();
    expect([...answersTo(before), ...answersTo(old)]).toEqual([]);
  });
});
