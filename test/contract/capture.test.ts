/** Rules for what is recorded, and the past: the API, on two processes with one database. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type Json = Record<string, unknown>;

let database: TestDatabase;
let sink: SmtpSink;
let one: ServiceProcess;
let two: ServiceProcess;
let accounts = 0;

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  const env = {
    DATABASE_URL: database.connectionString,
    SMTP_URL: sink.url,
    MAIL_FROM: 'info@example.com',
    SECRETS_KEY: 'secrets-key-of-a-test-0123456789',
  };
  [one, two] = await Promise.all([startServiceProcess({ env }), startServiceProcess({ env })]);
});
afterAll(async () => {
  await Promise.all([one, two].map((service) => disposeService(service)));
  await sink.stop();
  await database.drop();
});

async function ask(
  target: string,
  init: { method?: string; json?: unknown; headers?: Record<string, string> } = {},
  service = one,
): Promise<{ readonly status: number; readonly json: Json }> {
  const response = await service.request(target, init);
  return { status: response.status, json: (await response.json()) as Json };
}

const BANK = { never_addresses: ['*@bank.test'] };

/** An account with these rules, and mail that is recorded as if it had come from its mailbox. */
async function createAccount(capture: object | null, senders: readonly string[] = []): Promise<string> {
  accounts += 1;
  const id = `ruled-${accounts}`;
  const created = await ask('/api/accounts', {
    method: 'POST',
    json: { id, from: `${id}@example.com`, imap_url: 'imap://u:p@127.0.0.1:1', capture },
  });
  expect(created).toMatchObject({ status: 201 });
  for (const [index, from] of senders.entries())
    await receive(
      one,
      mail({ messageId: `<${id}-${index}@mail.test>`, from, subject: `${id} ${index}` }),
      `?account_id=${id}`,
    );
  await query(
    database.connectionString,
    `update emails set received_by = '{"way":"imap","place":"INBOX"}' where account_id = $1`,
    [id],
  );
  return id;
}

const preview = (id: string, json: object = {}, search = '', service = one) =>
  ask(`/api/accounts/${id}/capture/preview${search}`, { method: 'POST', json }, service);
const remove = (id: string, emails: unknown, { version = 1, search = '', service = one } = {}) =>
  ask(
    `/api/accounts/${id}/capture/removal${search}`,
    { method: 'POST', json: { emails }, headers: { 'if-match': `"${version}"` } },
    service,
  );
const removal = async (id: string) => (await ask(`/api/accounts/${id}/capture/removal`)).json;
const countOf = async (id: string) =>
  (
    await query(
      database.connectionString,
      'select count(*)::int as emails from emails where account_id = $1',
      [id],
    )
  )[0]!.emails;
const ended = (id: string) =>
  waitUntil('the removal has ended', async () => (await removal(id))['finished_at'] !== null);

/** The events of an account, once the end of the removal is one of them. */
async function eventsOf(id: string, removalId: unknown): Promise<readonly Json[]> {
  let events: Json[] = [];
  await waitUntil('the removal has ended in the feed', async () => {
    ({ events } = (await ask(`/api/events?account_id=${id}&limit=200`)).json as { events: Json[] });
    return events.some((event) => event['type'] === 'removal.ended' && idIn(event) === removalId);
  });
  return events;
}
const idIn = ({ data }: Json) => (data as Json)['removal_id'];

describe('a preview', () => {
  it('judges by proposed rules, by those of the account, and by none', async () => {
    const id = await createAccount(BANK, ['post@bank.test', 'ada@customer.test']);
    const own = await preview(id);
    expect(own).toMatchObject({
      status: 200,
      json: {
        judged: 2,
        kept: 1,
        not_from_mailbox: 0,
        unknown: 0,
        left_out: { address: 1, subject: 0, internal: 0, private: 0, stranger: 0 },
        staying: { answered: 0, drafted: 0, handled: 0, report: 0 },
        removable: 1,
        emptied_threads: 1,
        left_out_now: { address: 0 },
        next_cursor: null,
      },
    });
    const [email] = own.json['emails'] as Json[];
    expect(email).toMatchObject({
      subject: `${id} 0`,
      reason: 'address',
      stays: null,
      from_address: { address: 'post@bank.test' },
    });
    expect(own.json['removable_bytes']).toBe(email!['size_bytes']);
    expect((await preview(id, { capture: { never_subjects: [`${id} 1`] } })).json).toMatchObject({
      removable: 1,
      left_out: { subject: 1, address: 0 },
    });
    expect((await preview(id, { capture: null })).json).toMatchObject({ removable: 0, kept: 2 });
    // Without a body.
    expect((await ask(`/api/accounts/${id}/capture/preview`, { method: 'POST' })).json).toMatchObject({
      removable: 1,
    });
    expect((await preview(id, {}, '', two)).json).toMatchObject({ removable: 1 });
  });

  it('goes on with a cursor', async () => {
    const id = await createAccount(BANK, ['a@bank.test', 'b@bank.test', 'c@x.test']);
    let search = '?limit=1';
    const sums = { pages: 0, judged: 0, removable: 0, emptied_threads: 0 };
    for (;;) {
      const { json } = await preview(id, {}, search);
      sums.pages += 1;
      for (const field of ['judged', 'removable', 'emptied_threads'] as const)
        sums[field] += json[field] as number;
      if (json['next_cursor'] === null) break;
      search = `?limit=1&cursor=${String(json['next_cursor'])}`;
    }
    expect(sums).toEqual({ pages: 4, judged: 3, removable: 2, emptied_threads: 2 });
  });

  it('refuses what it does not know', async () => {
    const id = await createAccount(null);
    const refused = async (json: object, search = '') => {
      const { status, json: error } = await preview(id, json, search);
      return [status, error['code']];
    };
    expect(await refused({ rules: {} })).toEqual([400, 'unknown_field']);
    expect(await refused({ capture: { never: [] } })).toEqual([400, 'unknown_field']);
    expect(await refused({ capture: { never_addresses: ['*'] } })).toEqual([400, 'invalid_account']);
    expect(
      await refused({ capture: { never_addresses: Array.from({ length: 1001 }, () => 'a@b.test') } }),
    ).toEqual([400, 'invalid_request']);
    for (const search of ['?limit=0', '?limit=1001', '?limit=x', '?from=1'])
      expect((await refused({}, search))[0]).toBe(400);
    for (const cursor of [
      'x',
      Buffer.from(`${randomUUID()}:2`).toString('base64url'),
      Buffer.from(`${randomUUID()}:1:x:y`).toString('base64url'),
    ])
      expect(await refused({}, `?cursor=${cursor}`)).toEqual([400, 'invalid_cursor']);
    expect((await preview('nobody')).json['code']).toBe('account_not_found');
  });
});

describe('a removal', () => {
  it('removes the confirmed emails, and stands in the audit log and among the events', async () => {
    const id = await createAccount(BANK, ['a@bank.test', 'b@bank.test', 'c@x.test']);
    expect((await ask(`/api/accounts/${id}/capture/removal`)).json['code']).toBe('removal_not_found');
    const checked = await remove(id, 2, { search: '?dry_run=true' });
    expect(checked).toMatchObject({ status: 200, json: { id: null, state: 'checked', confirmed: 2 } });
    expect((await ask(`/api/accounts/${id}/capture/removal`)).status).toBe(404);
    const begun = await remove(id, 2, { service: two });
    expect(begun).toMatchObject({ status: 200, json: { account_id: id, state: 'counting', confirmed: 2 } });
    await ended(id);
    expect(await removal(id)).toMatchObject({
      id: begun.json['id'],
      state: 'done',
      judged: 3,
      found: 2,
      kept: 0,
      removed: { address: 2, subject: 0 },
    });
    expect(await countOf(id)).toBe(1);
    expect((await preview(id)).json).toMatchObject({ judged: 1, removable: 0 });
    const { entries } = (await ask('/api/audit?act=capture.removal_requested')).json as { entries: Json[] };
    expect(entries[0]).toMatchObject({ target: id, outcome: 'done', details: { version: 1, emails: 2 } });
    expect(entries.filter(({ target }) => target === id).length).toBe(1);
    const events = await eventsOf(id, begun.json['id']);
    expect(events.filter(({ type }) => type === 'email.deleted').length).toBe(2);
    expect(events.find(({ type }) => type === 'removal.ended')!['data']).toEqual({
      removal_id: begun.json['id'],
      state: 'done',
      confirmed: 2,
      found: 2,
      removed: 2,
      kept: 0,
    });
  });

  it('is refused for another version, another number, and without either', async () => {
    const id = await createAccount(BANK, ['a@bank.test', 'c@x.test']);
    const refused = async (...args: Parameters<typeof remove>) => {
      const { status, json } = await remove(...args);
      return [status, json['code']];
    };
    expect(await refused(id, 1, { version: 2 })).toEqual([412, 'account_changed']);
    expect(await refused(id, 2)).toEqual([409, 'left_out_changed']);
    expect(await refused(id, 2, { search: '?dry_run=true' })).toEqual([409, 'left_out_changed']);
    for (const emails of [0, -1, 1.5, '1', null, 1e12]) expect((await refused(id, emails))[0]).toBe(400);
    const target = `/api/accounts/${id}/capture/removal`;
    expect((await ask(target, { method: 'POST', json: { emails: 1 } })).status).toBe(428);
    expect(
      (
        await ask(target, {
          method: 'POST',
          json: { emails: 1, capture: {} },
          headers: { 'if-match': '"1"' },
        })
      ).status,
    ).toBe(400);
    expect(await refused('nobody', 1)).toEqual([404, 'account_not_found']);
    const free = await createAccount(null, ['a@bank.test']);
    expect(await refused(free, 1)).toEqual([409, 'left_out_changed']);
    expect(await countOf(id)).toBe(2);
  });

  it('is one for an account, and ends when it is stopped or the rules are changed', async () => {
    const id = await createAccount(BANK, ['a@bank.test']);
    // A process that died a moment ago has it.
    const begin = () =>
      query(
        database.connectionString,
        `insert into capture_removals (account_id, id, requested_by, rules_digest, confirmed, owner, lease_until)
        values ($1, $2, 'test', $3, 1, $2, now() + interval '1 minute')
        on conflict (account_id) do update set id = excluded.id, state = 'counting', finished_at = null, owner = excluded.owner,
          lease_until = excluded.lease_until`,
        [id, randomUUID(), Buffer.alloc(32)],
      );
    await begin();
    expect((await remove(id, 1)).json['code']).toBe('removal_running');
    const change = (version: number, json: object) =>
      ask(`/api/accounts/${id}`, { method: 'PATCH', json, headers: { 'if-match': `"${version}"` } });
    await change(1, { rate_per_day: 5 });
    expect(await removal(id)).toMatchObject({ state: 'counting', finished_at: null });
    await change(2, { capture: { never_addresses: ['*@bank.test', '*@x.test'] } });
    expect(await removal(id)).toMatchObject({ state: 'stopped' });
    await begin();
    const key = (
      await ask('/api/keys', {
        method: 'POST',
        json: { name: 'Stopper', rights: ['read', 'operate'], account_ids: '*' },
      })
    ).json;
    const headers = { authorization: `Bearer ${String(key['secret'])}` };
    expect(
      (
        await ask(`/api/accounts/${id}/capture/removal`, {
          method: 'POST',
          json: { emails: 1 },
          headers: { ...headers, 'if-match': '"3"' },
        })
      ).status,
    ).toBe(403);
    const stopped = await ask(`/api/accounts/${id}/capture/removal/stop`, { method: 'POST', headers });
    expect(stopped).toMatchObject({ status: 200, json: { state: 'stopped' } });
    expect((await ask(`/api/accounts/${id}/capture/removal/stop`, { method: 'POST', headers })).json).toEqual(
      stopped.json,
    );
    const event = (await eventsOf(id, stopped.json['id'])).find((one) => idIn(one) === stopped.json['id']);
    expect(event!['author']).toMatchObject({ name: 'Stopper' });
    expect(await countOf(id)).toBe(1);
    await begin();
    expect((await ask(`/api/accounts/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(
      await query(database.connectionString, 'select state from capture_removals where account_id = $1', [
        id,
      ]),
    ).toEqual([{ state: 'stopped' }]);
  });
});
