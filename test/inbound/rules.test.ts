/** Rules on received mail: by every door, in two services, and when one of them is killed. */
import { randomUUID } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { startDovecot } from '../helpers/dovecot-server.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { waitForPass } from '../helpers/mailbox-rows.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import {
  getJson,
  makeClerk,
  startServiceWithDatabase,
  type RunningService,
} from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

type Json = Record<string, unknown>;

let running: RunningService;
beforeAll(async () => {
  running = await startServiceWithDatabase({ LMTP_LISTEN: '127.0.0.1:0' });
});
afterAll(() => running.end());

const url = () => running.database.connectionString;

async function ask(
  path: string,
  { service = running.service, ...init }: RequestInit & { json?: unknown; service?: ServiceProcess } = {},
) {
  const response = await service.request(path, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
}

async function makeRule(fields: Json, service = running.service): Promise<string> {
  const { status, body } = await ask('/api/rules', {
    service,
    json: { name: 'a rule', account_ids: '*', actions: {}, ...fields },
  });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body['id'] as string;
}

const threadOf = async (threadId: string) =>
  (await getJson<{ thread: Json }>(running.service, `/api/threads/${threadId}`)).thread;

async function eventsOf(emailId: string): Promise<readonly Json[]> {
  await backgroundWorkIsDone(url());
  const { events } = await getJson<{ events: readonly Json[] }>(
    running.service,
    '/api/events?type=rule.matched&limit=200',
  );
  return events.filter((event) => event['email_id'] === emailId);
}

describe('an email that a rule matches', () => {
  it('is handled as if a person had done it, and its history names the rule', async () => {
    const { id: ada } = await makeClerk(running.service, 'Ada');
    const customer = randomUUID();
    const rule = await makeRule({
      name: 'Rechnungen',
      conditions: [{ subject: 'RECHNUNG' }, { sender: '*@supplier.test' }],
      actions: { add_labels: ['invoice'], assignee: ada, status: 'done', customer_id: customer },
    });
    const { id, threadId } = await receive(
      running.service,
      mail({ subject: 'Ihre Rechnung', from: 'Bo <bo@supplier.test>' }),
    );
    expect(await eventsOf(id)).toEqual([
      expect.objectContaining({
        thread_id: threadId,
        author: { id: `rule:${rule}`, name: 'Rechnungen' },
        data: {
          rule_id: rule,
          rule_name: 'Rechnungen',
          done: ['add_labels', 'assignee', 'status', 'customer_id'],
          skipped: [],
        },
      }),
    ]);
    expect(await threadOf(threadId)).toMatchObject({
      labels: ['invoice'],
      assignee: ada,
      status: 'done',
      customer_id: customer,
    });
    // A person decides otherwise; a later email of the thread is judged, and takes nothing back.
    const { id: zoe } = await makeClerk(running.service, 'Zoe');
    await ask(`/api/threads/${threadId}`, {
      method: 'PATCH',
      json: { assignee: zoe, customer_id: randomUUID() },
    });
    const [{ message_id: parent } = {}] = await query(url(), 'select message_id from emails where id = $1', [
      id,
    ]);
    const next = await receive(
      running.service,
      mail({ subject: 'Rechnung 2', from: 'bo@supplier.test', inReplyTo: `<${String(parent)}>` }),
    );
    expect((await eventsOf(next.id)).map(({ data }) => (data as Json)['skipped'])).toEqual([
      ['assignee', 'customer_id'],
    ]);
    expect(await threadOf(threadId)).toMatchObject({ assignee: zoe });
    await ask(`/api/rules/${rule}`, { method: 'DELETE' });
  });

  it('is judged by the header that came with it, also of a message in a file', async () => {
    const rule = await makeRule({ conditions: [{ header: { name: 'X-Spam-Flag', equals: 'yes' } }] });
    const headers = ['X-Spam-Flag: YES'];
    const small = await receive(running.service, mail({ headers }));
    const large = await receive(running.service, mail({ headers, body: 'lang\r\n'.repeat(20_000) }));
    const other = await receive(running.service, mail({ headers: ['X-Spam-Flag: NO'] }));
    expect([(await eventsOf(small.id)).length, (await eventsOf(large.id)).length]).toEqual([1, 1]);
    expect(await eventsOf(other.id)).toEqual([]);
    await ask(`/api/rules/${rule}`, { method: 'DELETE' });
  });

  it('came by LMTP', async () => {
    const rule = await makeRule({ conditions: [{ recipient: 'noreply@localhost' }] });
    const line = running.service.log.find((one) => one.includes('"protocol":"lmtp","address"'));
    const port = Number(/"address":"127\.0\.0\.1:(\d+)"/.exec(line ?? '')?.[1]);
    const transport = createTransport({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true });
    const messageId = newId();
    await transport.sendMail({
      envelope: { from: 'ada@customer.test', to: ['noreply@localhost'] },
      raw: mail({ messageId, to: 'noreply@localhost' }),
    });
    transport.close();
    const [{ id } = {}] = await query(url(), 'select id from emails where message_id = $1', [
      messageId.slice(1, -1),
    ]);
    expect(await eventsOf(id as string)).toHaveLength(1);
    await ask(`/api/rules/${rule}`, { method: 'DELETE' });
  });
});

describe('the API', () => {
  const CONDITIONS = [{ subject: 'no such subject' }];

  it('refuses what no rule can be', async () => {
    const rule = { name: 'x', account_ids: '*', conditions: CONDITIONS, actions: {} };
    for (const [fields, code] of [
      [{ conditions: [] }, 'invalid_request'],
      [{ conditions: [{}] }, 'invalid_request'],
      [{ conditions: [{ subject: 'a', text: 'b' }] }, 'invalid_request'],
      [{ conditions: [{ regex: '(a+)+$' }] }, 'unknown_field'],
      [{ conditions: [{ sender: 'nobody' }] }, 'invalid_request'],
      [{ conditions: [{ header: { name: 'a b' } }] }, 'invalid_request'],
      [{ conditions: Array.from({ length: 21 }, () => CONDITIONS[0]) }, 'invalid_request'],
      [{ account_ids: ['nowhere'] }, 'unknown_account'],
      [{ account_ids: ['default'], conditions: [{ account_id: 'other' }] }, 'unknown_account'],
      [{ account_ids: null }, 'invalid_request'],
      [{ actions: { assignee: 'zzzzzzzzzzzz' } }, 'unknown_assignee'],
      [{ actions: { status: 'deleted' } }, 'invalid_request'],
      [{ actions: { forward_to: 'a@b.test' } }, 'unknown_field'],
      [{ name: ' ' }, 'invalid_request'],
      [{ version: 1 }, 'unknown_field'],
    ] as const) {
      const { status, body } = await ask('/api/rules', { json: { ...rule, ...fields } });
      expect([fields, status, body['code']]).toEqual([fields, 400, code]);
    }
    expect((await ask('/api/rules')).body).toEqual({ rules: [] });
  });

  it('changes only the version that the caller knows', async () => {
    const id = await makeRule({ conditions: CONDITIONS });
    const at = `/api/rules/${id}`;
    const patch = (json: Json, version?: number) =>
      ask(at, {
        method: 'PATCH',
        json,
        ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
      });
    expect((await ask(at)).headers.get('etag')).toBe('"1"');
    const changed = await patch({ name: 'b', active: false }, 1);
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ name: 'b', active: false, version: 2, conditions: CONDITIONS }),
    ]);
    expect((await patch({ name: 'c' }, 1)).body).toMatchObject({ code: 'rule_changed', details: '2' });
    const all = await Promise.all(['d', 'e', 'f'].map((name) => patch({ name })));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await ask(at, { method: 'DELETE', headers: { 'if-match': '"2"' } })).status).toBe(412);
    expect((await ask(at, { method: 'DELETE', headers: { 'if-match': '"5"' } })).body).toMatchObject({
      rule_id: id,
    });
    expect((await ask(at)).body).toMatchObject({ code: 'rule_not_found' });
  });

  it('previews without doing anything', async () => {
    const { id, threadId } = await receive(running.service, mail({ subject: 'Zur Vorschau' }));
    const before = await threadOf(threadId);
    const { body } = await ask('/api/rules/preview', {
      json: { account_ids: '*', conditions: [{ subject: 'vorschau' }, { header: { name: 'from' } }] },
    });
    expect(body).toMatchObject({ matched: 1, examples: [{ email_id: id, thread_id: threadId }] });
    expect(body['examined']).toBeGreaterThan(1);
    const few = await ask('/api/rules/preview', {
      json: { account_ids: ['default'], conditions: [{ min_size_bytes: 0 }], last: 1 },
    });
    expect(few.body).toMatchObject({ examined: 1, matched: 1 });
    expect(await threadOf(threadId)).toEqual(before);
    expect(await eventsOf(id)).toEqual([]);
  });
});

describe('two services on one database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('act once on each email, also when one is killed', { timeout: 240_000 }, async () => {
    const env = { DATABASE_URL: database.connectionString };
    const one = await startServiceProcess({ env });
    const other = await startServiceProcess({ env });
    await makeRule({ conditions: [{ subject: 'Rechnung' }], actions: { add_labels: ['invoice'] } }, one);
    const service = [one, other] as const;
    const recorded = await Promise.all(
      Array.from({ length: 60 }, (_, n) => receive(service[n % 2]!, mail({ subject: `Rechnung ${n}` }))),
    );
    await one.kill();
    // What the killed one had taken is due in a minute.
    await query(database.connectionString, 'update mail_rule_queue set next_try_at = now()');
    await backgroundWorkIsDone(database.connectionString);
    const [counts] = await query(
      database.connectionString,
      `select (select count(*)::int from mail_rule_matches) as matches,
        (select count(*)::int from events where type = 'rule.matched') as events,
        (select count(*)::int from events where type = 'thread.updated') as changes,
        (select count(*)::int from email_threads where labels = '{invoice}') as threads`,
    );
    const each = recorded.length;
    expect(counts).toEqual({ matches: each, events: each, changes: each, threads: each });
    await disposeService(other);
  });
});

describe.skipIf(skipWithoutMailServers())('a mailbox', () => {
  it('brings old mail at first, which no rule judges, and then new mail', { timeout: 240_000 }, async () => {
    const database = await createTestDatabase();
    const dovecot = await startDovecot();
    const at = (subject: string) => mail({ subject, to: 'alice@example.test' });
    await fillMaildir(dovecot, 'alice', null, [at('Rechnung alt')]);
    const first = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
    await makeRule({ conditions: [{ subject: 'Rechnung' }] }, first);
    await first.stop();
    const service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        IMAP_URL: dovecot.urlOf('alice'),
        IMAP_POLL_MS: '1000',
      },
    });
    await waitForPass(database, 'default');
    await dovecot.withClient('alice', (client) => client.append('INBOX', at('Rechnung neu')));
    const subjects = () =>
      query(
        database.connectionString,
        'select subject from mail_rule_matches m join emails e on e.id = m.email_id',
      );
    await expect.poll(subjects, { timeout: 60_000 }).toEqual([{ subject: 'Rechnung neu' }]);
    await disposeService(service);
    await disposeService(first);
    await dovecot.stop();
    await database.drop();
  });
});
