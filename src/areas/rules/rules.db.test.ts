/** Rules and the queue of mail that they judge, on a real database. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directReader } from '../../../test/helpers/direct-reader.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { openMailStores, type MailStores } from '../../../test/helpers/mail-stores.ts';
import { addressOf } from '../../../test/helpers/outbound-record.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { RuleSettings } from '../../core/rules/rule.ts';
import { createThreadChanges } from '../threads/thread-work.ts';
import { judgeSome, type JudgePorts } from './judge-mail.ts';
import { createRuleQueue } from './rule-queue.ts';
import { createRuleStore } from './rule-store.ts';

let stores: MailStores;
let pool: pg.Pool;
let ports: JudgePorts;
const never = new AbortController().signal;

beforeEach(async () => {
  stores = await openMailStores();
  pool = stores.pool;
  ports = {
    rules: createRuleStore(pool),
    queue: createRuleQueue(pool),
    reader: directReader,
    blobs: { get: async () => null },
    logger: silentLogger,
  };
});
afterEach(() => stores.end());

const RULE: RuleSettings = {
  name: 'Rechnungen',
  active: true,
  accounts: null,
  historical: false,
  match: 'all',
  conditions: [{ subject: 'rechnung' }],
  actions: { addLabels: ['invoice'] },
  stop: false,
};
async function makeRule(fields: Partial<RuleSettings> = {}): Promise<string> {
  const id = randomUUID();
  await createRuleStore(pool).create(id, { ...RULE, ...fields });
  return id;
}
const receive = (fields: Parameters<typeof inboundRecord>[0] = {}) =>
  stores.inbound.recordInbound(inboundRecord({ subject: 'Ihre Rechnung', ...fields }));
const sql = async (text: string, values: readonly unknown[] = []) =>
  (await pool.query<Record<string, unknown>>(text, [...values])).rows;
const labelsOf = async (threadId: string) =>
  (await sql('select labels from email_threads where id = $1', [threadId]))[0]?.['labels'];
const matches = () =>
  sql('select email_id, rule_id, done, skipped from mail_rule_matches order by matched_at');

describe('the queue', () => {
  it('gets nothing without an active rule', async () => {
    await receive();
    await makeRule({ active: false });
    await receive();
    expect(await sql('select from mail_rule_queue')).toEqual([]);
  });

  it('gets each received email once, and no email that is known', async () => {
    await makeRule();
    const record = inboundRecord();
    await stores.inbound.recordInbound(record);
    await stores.inbound.recordInbound({ ...record, id: randomUUID() });
    await stores.inbound.recordInbound(inboundRecord({ isSentCopy: true }));
    expect(await sql('select email_id from mail_rule_queue')).toEqual([{ email_id: record.id }]);
  });

  it('gets imported mail only for a rule that is for it', async () => {
    await makeRule();
    const receivedBy = { way: 'import', place: 'a.mbox' } as unknown as ReturnType<
      typeof inboundRecord
    >['receivedBy'];
    await receive({ receivedBy });
    expect(await sql('select from mail_rule_queue')).toEqual([]);
    const old = await makeRule({ historical: true, actions: { addLabels: ['old'] } });
    const { id, threadId } = await receive({ receivedBy });
    await judgeSome(ports, never);
    expect(await labelsOf(threadId)).toEqual(['old']);
    expect(await matches()).toEqual([expect.objectContaining({ email_id: id, rule_id: old })]);
  });

  it('leaves an email of a killed process to the others, a minute later', async () => {
    await makeRule();
    await receive();
    expect(await ports.queue.take(10)).toHaveLength(1);
    expect(await ports.queue.take(10)).toEqual([]);
    await sql(`update mail_rule_queue set next_try_at = now()`);
    expect(await ports.queue.take(10)).toHaveLength(1);
    expect(
      await sql(
        `select extract(epoch from next_try_at - now())::int between 95 and 145 as is_later from mail_rule_queue`,
      ),
    ).toEqual([{ is_later: true }]);
  });

  it('waits for the customer of an email, and not for ever', async () => {
    await makeRule();
    const { id } = await receive();
    await sql('insert into customer_relinks (email_id) values ($1)', [id]);
    expect(await ports.queue.take(10)).toEqual([]);
    await sql(`update mail_rule_queue set queued_at = now() - interval '61 seconds'`);
    expect(await ports.queue.take(10)).toHaveLength(1);
  });
});

describe('a rule', () => {
  it('acts once, however many processes judge the email', async () => {
    await makeRule({ actions: { addLabels: ['invoice'], status: 'done' } });
    const { id, threadId } = await receive();
    const [waiting] = await ports.queue.take(1);
    const rules = await ports.rules.list(null);
    const acting = rules.map((rule) => ({ ...rule, author: `rule:${rule.id}`, isBlock: false }));
    await Promise.all(Array.from({ length: 5 }, () => ports.queue.carryOut(waiting!, acting)));
    expect(await matches()).toEqual([
      { email_id: id, rule_id: rules[0]!.id, done: ['add_labels', 'status'], skipped: [] },
    ]);
    const { rows } = await pool.query(
      `select count(*)::int as changes from event_inbox, unnest(bodies) b where b.type = 'thread.updated' and b.thread_id = $1`,
      [threadId],
    );
    expect(rows).toEqual([{ changes: 1 }]);
    expect(await sql('select from mail_rule_queue')).toEqual([]);
  });

  it('is the author of what it does', async () => {
    const rule = await makeRule();
    await receive();
    await judgeSome(ports, never);
    const bodies = await sql(
      `select b.type, b.author::json as author from event_inbox, unnest(bodies) b
      where b.type in ('rule.matched', 'thread.updated') order by b.type`,
    );
    const author = { id: `rule:${rule}`, name: 'Rechnungen' };
    expect(bodies).toEqual([
      { type: 'rule.matched', author },
      { type: 'thread.updated', author },
    ]);
  });

  it('does not act when the email is deleted, or turns out to be a sent one', async () => {
    await makeRule();
    const gone = await receive();
    const sent = inboundRecord({ subject: 'Rechnung' });
    await stores.inbound.recordInbound(sent);
    await sql('delete from emails where id = $1', [gone.id]);
    await stores.inbound.turnIntoSent(sent.id, sent);
    await judgeSome(ports, never);
    expect(await matches()).toEqual([]);
    expect(await sql('select from mail_rule_queue')).toEqual([]);
  });

  it('leaves a thread open that a person has written to since', async () => {
    await makeRule({ actions: { status: 'done', addLabels: ['invoice'] } });
    const first = inboundRecord({ subject: 'Rechnung' });
    const { threadId } = await stores.inbound.recordInbound(first);
    await stores.inbound.recordInbound(
      inboundRecord({ subject: 'Frage', from: addressOf('ada') }, [first.identity.messageId]),
    );
    await judgeSome(ports, never);
    expect(await matches()).toEqual([expect.objectContaining({ done: ['add_labels'], skipped: ['status'] })]);
    expect(await sql('select status from email_threads where id = $1', [threadId])).toEqual([
      { status: 'open' },
    ]);
  });

  it('keeps the customer that a person chose', async () => {
    const chosen = randomUUID();
    await makeRule({ conditions: [{ subject: 'rechnung' }], actions: { customerId: randomUUID() } });
    const { threadId } = await receive();
    await createThreadChanges(pool).changeThread(
      threadId,
      {
        version: null,
        customerId: chosen,
        companyId: undefined,
        status: undefined,
        settles: undefined,
        assignee: undefined,
        labels: undefined,
        addLabels: [],
        removeLabels: [],
      },
      null,
    );
    await judgeSome(ports, never);
    expect(await matches()).toEqual([expect.objectContaining({ done: [], skipped: ['customer_id'] })]);
    expect(await sql('select customer_id from email_threads where id = $1', [threadId])).toEqual([
      { customer_id: chosen },
    ]);
  });

  it('does what the thread takes, and leaves out the rest', async () => {
    await makeRule({ actions: { addLabels: ['invoice'] } });
    await makeRule({
      name: 'second',
      actions: { addLabels: Array.from({ length: 20 }, (_, n) => `l${n}`), status: 'done' },
    });
    const { threadId } = await receive();
    await judgeSome(ports, never);
    expect(await labelsOf(threadId)).toEqual(['invoice']);
    expect(await matches()).toEqual([
      expect.objectContaining({ done: ['add_labels'] }),
      expect.objectContaining({ done: ['status'], skipped: ['add_labels'] }),
    ]);
  });

  it('matches nothing in the header of an email whose file is missing, and goes on', async () => {
    await makeRule({ conditions: [{ header: { name: 'subject' } }] });
    const bad = await receive();
    const good = await receive();
    await sql(`update emails set raw = null, raw_path = '_raw/default/none.eml' where id = $1`, [bad.id]);
    await judgeSome(ports, never);
    expect(await labelsOf(good.threadId)).toEqual(['invoice']);
    expect(await labelsOf(bad.threadId)).toEqual([]);
    expect(await sql('select email_id from mail_rule_queue')).toEqual([]);
  });
});

describe('the order', () => {
  it('of the rules that a key sees changes within their places', async () => {
    const store = createRuleStore(pool);
    const a = await makeRule({ accounts: ['sales'] });
    const all = await makeRule();
    const b = await makeRule({ accounts: ['sales', 'support'] });
    const c = await makeRule({ accounts: ['sales'] });
    expect(await store.order([c, a, b], ['sales'])).toBe(false);
    expect(await store.order([c, all], ['sales'])).toBe(false);
    expect(await store.order([c], ['sales'])).toBe(false);
    expect(await store.order([c, a], ['sales'])).toBe(true);
    expect((await store.list(null)).map(({ id }) => id)).toEqual([c, all, b, a]);
  });

  it('stays whole when rules are made and ordered at the same moment', async () => {
    const store = createRuleStore(pool);
    const ids = await Promise.all(Array.from({ length: 5 }, () => makeRule()));
    const order = (await store.list(null)).map(({ id }) => id);
    await Promise.all([
      store.order(order.toReversed(), null),
      store.order(order, null),
      ...Array.from({ length: 3 }, () => makeRule()),
    ]);
    const places = (await sql('select place from mail_rules')).map(({ place }) => place);
    expect(new Set(places).size).toBe(ids.length + 3);
  });
});

describe('a change', () => {
  it('counts only for the version that it names', async () => {
    const store = createRuleStore(pool);
    const id = await makeRule();
    const old = (await store.read(id))!;
    const results = await Promise.all([store.change(id, old, RULE), store.change(id, old, RULE)]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'done']);
    expect(await store.delete(id, 1)).toEqual({ kind: 'changed', version: 2 });
    expect(await store.delete(id, null)).toEqual({ kind: 'done', at: expect.any(Date) as Date });
    expect(await store.delete(id, null)).toEqual({ kind: 'not_found' });
  });

  it('that makes one too many is refused', async () => {
    await sql(`insert into mail_rules (id, place, name, is_active, is_for_historical, match, conditions, actions, stops)
      select gen_random_uuid(), n, 'n', false, false, 'all', '[]', '{}', false from generate_series(1, 200) n`);
    await expect(makeRule()).rejects.toMatchObject({ code: 'too_many_rules' });
  });
});
