/** An email that has to wait, or is refused, holds up no other; and a recorded email is never reported as not recorded. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import { addressOf } from '../../../test/helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { IS_LONG } from '../../../test/helpers/runs.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import type { InboundRecord, InboundStore } from './inbound-ports.ts';
import { createPool } from '../../platform/db/pool.ts';
import { StatementGroup } from '../../platform/db/statement-group.ts';
import { toSought } from './record-alone.ts';
import { createInboundStore } from './record-inbound.ts';

let database: TestDatabase;
let pool: pg.Pool;
let store: InboundStore;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 8);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  store = createInboundStore(pool);
});

const unrelated = () => inboundRecord({ accountId: randomUUID() });
const answerTo = (email: InboundRecord, fields: Partial<InboundRecord> = {}) =>
  inboundRecord(fields, [email.identity.messageId]);

/** Makes the emails arrive while another one is being written, so that they form a batch. */
async function recordBatch(emails: readonly InboundRecord[]) {
  const first = store.recordInbound(unrelated());
  const results = emails.map((email) => store.recordInbound(email));
  await first;
  return results;
}

/** Holds the locks of `statement` until the end of `work`. */
async function whileLocked(statement: string, values: unknown[], work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(statement, values);
    await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** The first key is that of `lockLinks`. */
const LOCK_LINKS = `select pg_advisory_xact_lock(${0x6d657267}, hashtext('default'))`;

describe('others do not wait', () => {
  it('for an answer into a thread that another transaction has locked', async () => {
    const email = inboundRecord();
    const { threadId } = await store.recordInbound(email);
    let answered: Promise<unknown> | undefined;
    await whileLocked('select from email_threads where id = $1 for update', [threadId], async () => {
      const [answer, ...others] = await recordBatch([answerTo(email), unrelated(), unrelated()]);
      answered = answer;
      expect(await Promise.all(others)).toMatchObject([{ kind: 'recorded' }, { kind: 'recorded' }]);
      expect(await store.recordInbound(unrelated())).toMatchObject({ kind: 'recorded' });
    });
    expect(await answered).toMatchObject({ kind: 'recorded', threadId });
  });

  it('for one that merges threads, nor for emails that are tied to it', async () => {
    const [one, other] = [inboundRecord(), inboundRecord()];
    await store.recordInbound(one);
    await store.recordInbound(other);
    const merging = inboundRecord({}, [one.identity.messageId, other.identity.messageId]);
    const waiting: Promise<unknown>[] = [];
    await whileLocked(LOCK_LINKS, [], async () => {
      waiting.push(...(await recordBatch([merging])));
      // By now the email waits alone.
      await store.recordInbound(unrelated());
      const [tied, free] = await recordBatch([answerTo(one), unrelated()]);
      expect(await free).toMatchObject({ kind: 'recorded' });
      waiting.push(tied!);
    });
    const { threadId } = (await store.findKnown(toSought(one)))!;
    expect(await Promise.all(waiting)).toMatchObject([
      { kind: 'recorded', threadId },
      { kind: 'recorded', threadId },
    ]);
  });

  it('nor fail with one that the database refuses', async () => {
    const refused = inboundRecord({ accountId: 'not an account id' });
    const emails = [unrelated(), refused, unrelated(), unrelated()];
    const outcomes = await Promise.allSettled(await recordBatch(emails));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });
});

// A quarter of a minute of work.
it.runIf(IS_LONG)(
  'many answers into a long thread with many people are recorded in the time a statement may take',
  async () => {
    const root = inboundRecord();
    const { id, threadId } = await store.recordInbound(root);
    const copied = await pool.query<{ names: string }>(
      `select string_agg(attname, ', ') as names from pg_attribute
    where attrelid = 'emails'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    );
    const names = copied.rows[0]?.names;
    await pool.query(
      `insert into emails (${names}) select ${names} from (
      select (jsonb_populate_record(e, jsonb_build_object(
        'id', gen_random_uuid(), 'identity_key', '\\x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex'),
        'to_addresses', (
          select jsonb_agg(jsonb_build_object('name', '', 'address', 'p' || k || '@list.test')) from generate_series(1, 10) k
        )
      ))).*
      from emails e, generate_series(1, 12000) n where e.id = $1
    ) x`,
      [id],
    );
    const senders = Array.from({ length: 128 }, (_, index) =>
      addressOf(`p${index % 20}`, index < 64 ? 'list.test' : 'new.test'),
    );
    const answers = senders.map((from) => answerTo(root, { from }));
    const results = await Promise.all(await recordBatch(answers));
    expect(new Set(results.map((result) => `${result.kind} ${result.threadId}`))).toEqual(
      new Set([`recorded ${threadId}`]),
    );
    const { rows } = await pool.query<{ address: string; is_new: boolean }>(
      `select from_address ->> 'address' as address, bool_or(new_participant) as is_new, count(*) filter (where new_participant)
     from emails where id = any ($1::uuid[]) group by 1`,
      [answers.map((answer) => answer.id)],
    );
    // The test wrote to p1 to p10 of the list.
    const strangers = rows.filter(({ is_new }) => is_new).map(({ address }) => address);
    expect(strangers.sort()).toEqual(
      senders
        .map(({ localPart, domain }) => `${localPart}@${domain}`)
        .filter((address, index, all) => all.indexOf(address) === index && !/^p([1-9]|10)@list/.test(address))
        .sort(),
    );
  },
);

it('a committed email is recorded, though the answer to the commit was lost and it was tried again', async () => {
  const emails = [unrelated(), unrelated()];
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  let lose = false;
  const restores: (() => void)[] = [];
  const faulty = Object.assign(Object.create(pool) as pg.Pool, {
    async connect() {
      const client = await connect();
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      const losing = (...args: unknown[]) => {
        const [group] = args;
        if (group instanceof StatementGroup) {
          const { callback } = group;
          group.callback = (error, results) => {
            const isLost = lose && results?.at(-1)?.command === 'COMMIT';
            if (isLost) lose = false;
            callback(isLost ? new Error('what no driver is known to say') : error, results);
          };
        }
        return query(...args);
      };
      restores.push(() => Object.assign(client, { query }));
      return Object.assign(client, { query: losing });
    },
  });
  store = createInboundStore(faulty);
  const first = store.recordInbound(unrelated());
  const results = emails.map((email) => store.recordInbound(email));
  await first;
  lose = true;
  expect(await Promise.all(results)).toMatchObject(emails.map(({ id }) => ({ kind: 'recorded', id })));
  expect(lose).toBe(false);
  for (const restore of restores) restore();
});

it('when the database cannot be reached, all waiting calls fail at once', async () => {
  const nowhere = createPool({
    connection: 'postgres://nobody@127.0.0.1:1/nowhere',
    maxConnections: 2,
    connectTimeoutMs: 1000,
    statementTimeoutMs: 1000,
    logger: silentLogger,
  });
  let connects = 0;
  const counting = Object.assign(Object.create(nowhere) as pg.Pool, {
    connect: (...args: []) => {
      connects += 1;
      return nowhere.connect(...args);
    },
  });
  store = createInboundStore(counting);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 1000 }, () => store.recordInbound(unrelated())),
  );
  expect(
    new Set(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason.code))),
  ).toEqual(new Set(['database_unavailable']));
  expect(connects).toBeLessThan(5);
  await nowhere.end();
});
