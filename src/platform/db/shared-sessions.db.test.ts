/** Connections through a real PgBouncer in transaction mode, which has fewer sessions than there are connections. */
import { Pool, type QueryResult } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../../../test/helpers/external-postgres.ts';
import { skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from '../../../test/helpers/pgbouncer.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { checkSessions, createDatabaseCheck, LostSessionError } from './check-database.ts';
import { isLatest, migrateToLatest } from './migrate.ts';
import { createPool, type PoolOptions } from './pool.ts';
import type { Call } from './statement.ts';
import { inPlannedTransaction, inTransaction } from './transaction.ts';

const SESSIONS = 2;
const CLIENTS = 12;

describe.skipIf(skipWithoutExternalPostgres() || skipWithoutPgBouncer())(
  'without sessions of its own',
  () => {
    let postgres: ExternalPostgres;
    let pooler: PgBouncer;
    const pools: Pool[] = [];
    let pool: Pool;

    function open(url: string, options: Partial<PoolOptions> = {}): Pool {
      const made = createPool({
        connection: url,
        maxConnections: CLIENTS,
        connectTimeoutMs: 30_000,
        statementTimeoutMs: 60_000,
        logger: silentLogger,
        ...options,
      });
      pools.push(made);
      return made;
    }

    beforeAll(async () => {
      postgres = await createExternalPostgres();
      // With only one session left there would be no turns, so no session may end in the middle of a test.
      pooler = await startPgBouncer(postgres.url, { sessions: SESSIONS, idleSeconds: 3600 });
      pool = open(pooler.url);
      // Several at the same moment: the lock belongs to the transaction.
      await Promise.all([1, 2, 3].map(() => migrateToLatest(open(pooler.url, { statementTimeoutMs: null }))));
      await query(postgres.url, 'create table email_worker.numbers (n int primary key)');
    });
    afterAll(async () => {
      await Promise.all(pools.map((one) => one.end()));
      await pooler.stop();
      await postgres.dispose();
    });

    const call = (name: string, text: string, ...values: unknown[]): Call<{ n: number }> => ({
      name,
      text,
      values,
      givesRows: true,
    });
    const many = (work: (index: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: 20 * CLIENTS }, (_, index) => work(index)));
    const schemaOf = async (one: Pool) =>
      (await one.query<{ name: string }>(`select current_schema() as name`)).rows[0]?.name;

    /** PgBouncer opens a session when all others are in use. */
    async function openSessions(): Promise<void> {
      const clients = await Promise.all(Array.from({ length: SESSIONS }, () => pool.connect()));
      for (const command of ['begin', 'commit'])
        await Promise.all(clients.map((client) => client.query(command)));
      for (const client of clients) client.release();
    }

    it('is there after a migration through it', async () => {
      expect(await isLatest(pool)).toBe(true);
    });

    it('sends statements with names and parameters from many connections', async () => {
      const found = await many(async (index) => {
        const { rows } = await pool.query<{ n: number }>({
          name: 'same-name',
          text: 'select $1::int + (select count(*)::int from numbers where false) as n',
          values: [index],
        });
        return rows[0]?.n;
      });
      expect(found).toEqual(Array.from(found, (_, index) => index));
      const prepared = `select count(*)::int as n from pg_prepared_statements`;
      expect((await pool.query(prepared)).rows).toEqual([{ n: 0 }]);
    });

    it('gives what pg gives: rows, fields, counts and errors, of one text or several', async () => {
      await pool.query('delete from numbers');
      const inserted = await pool.query('insert into numbers values ($1), ($2) returning n', [1, 2]);
      expect(inserted).toMatchObject({ command: 'INSERT', rowCount: 2, rows: [{ n: 1 }, { n: 2 }] });
      expect(inserted.fields.map(({ name }) => name)).toEqual(['n']);
      const simple = await pool.query('select n from numbers order by n');
      expect(simple).toMatchObject({ command: 'SELECT', rowCount: 2, rows: [{ n: 1 }, { n: 2 }] });
      const several = (await pool.query('select 1 as n; select 2 as n')) as unknown as QueryResult[];
      expect(several.map(({ rows }) => rows as unknown)).toEqual([[{ n: 1 }], [{ n: 2 }]]);
      await expect(pool.query('insert into numbers values ($1)', [1])).rejects.toMatchObject({
        code: '23505',
      });
      await expect(pool.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
      await expect(pool.query('select nothing from nowhere where 1 = $1', [1])).rejects.toMatchObject({
        code: '42P01',
      });
      expect((await pool.query('select $1::int as n', [3])).rows).toEqual([{ n: 3 }]);
    });

    it('has the settings in each transaction, and leaves none to others', async () => {
      const inside = inTransaction(
        pool,
        async (client) => {
          const { rows } = await client.query<Record<string, string>>(
            `select current_setting('search_path') as path, current_setting('statement_timeout') as per_statement,
            current_setting('idle_in_transaction_session_timeout') as idle,
            current_setting('transaction_isolation') as isolation`,
          );
          return rows;
        },
        'snapshot',
      );
      expect(await inside).toEqual([
        { path: 'email_worker, pg_temp', per_statement: '1min', idle: '1min', isolation: 'repeatable read' },
      ]);
      // Another program's connection gets the same sessions.
      const others = new Pool({ connectionString: pooler.url, max: SESSIONS });
      const setting = `select current_setting('search_path') as path, current_setting('statement_timeout') as per_statement`;
      for (const { rows } of await Promise.all(Array.from({ length: 8 }, () => others.query(setting)))) {
        expect(rows).toEqual([{ path: '"$user", public', per_statement: '0' }]);
      }
      await others.end();
    });

    // Before version 18, a plan that has no index to use is compiled at each execution, which takes longer than the plan runs.
    it('has no plan compiled, with sessions of its own or without', async () => {
      const explain =
        'explain (analyze, format json) select count(*) as n from event_clock where position > $1';
      for (const one of [pool, open(postgres.url)]) {
        const [rows] = await inPlannedTransaction(one, (transaction) =>
          transaction.run({ name: 'explain', text: explain, values: [5], givesRows: true }),
        );
        const [
          {
            'QUERY PLAN': [plan],
          },
        ] = rows as [{ 'QUERY PLAN': [object] }];
        expect(plan).toHaveProperty('Execution Time');
        expect(plan).not.toHaveProperty('JIT');
      }
    });

    it('keeps transactions whole, however many there are', async () => {
      await pool.query('delete from numbers');
      await many((index) =>
        inPlannedTransaction(pool, async (transaction) => {
          await transaction.run(call('add', 'insert into numbers values ($1) returning n', index));
          await transaction.runLast(call('one', 'select n from numbers where n = $1', index));
        }),
      );
      const failing = many((index) =>
        inTransaction(pool, async (client) => {
          await client.query('insert into numbers values ($1)', [10_000 + index]);
          await client.query('select 1 / $1::int', [0]);
        }).catch((error: unknown) => error),
      );
      await failing;
      expect((await pool.query('select count(*)::int as n, max(n) as max from numbers')).rows).toEqual([
        { n: 20 * CLIENTS, max: 20 * CLIENTS - 1 },
      ]);
    });

    it('ends a statement after its time, alone and in a transaction', async () => {
      const impatient = open(pooler.url, { statementTimeoutMs: 300 });
      await expect(impatient.query('select pg_sleep($1)', [30])).rejects.toMatchObject({ code: '57014' });
      await expect(impatient.query('select pg_sleep(30)')).rejects.toMatchObject({ code: '57014' });
      await expect(
        inTransaction(impatient, (client) => client.query('select pg_sleep($1)', [30])),
      ).rejects.toMatchObject({ code: 'database_unavailable' });
      await expect(
        inPlannedTransaction(impatient, (transaction) =>
          transaction.runLast(call('sleep', 'select 1 as n from pg_sleep($1)', 30)),
        ),
      ).rejects.toMatchObject({ code: 'database_unavailable' });
      await expect(pool.query('select pg_sleep(0.5)')).resolves.toMatchObject({ rowCount: 1 });
    });

    it('says that all is well where it was recognised', async () => {
      const well = [
        [pool, true],
        [open(pooler.url, { pooler: 'transaction' }), true],
        [open(postgres.url), false],
        [open(postgres.url, { pooler: 'transaction' }), true],
        [open(postgres.url, { pooler: 'none' }), false],
      ] as const;
      for (const [one, isShared] of well) {
        await expect(checkSessions(one)).resolves.toBe(isShared);
        await expect(createDatabaseCheck(one)()).resolves.toBeUndefined();
      }
    });

    it('says that it would not work where the pooler was denied', async () => {
      await expect(checkSessions(open(pooler.url, { pooler: 'none' }))).rejects.toThrow(LostSessionError);
    });

    it('says so with a single connection too, which gets sessions in turn', async () => {
      await openSessions();
      const check = createDatabaseCheck(open(pooler.url, { pooler: 'none', maxConnections: 1 }));
      const failures: unknown[] = [];
      for (let times = 0; times < SESSIONS; times += 1)
        await check().catch((error: unknown) => failures.push(error));
      expect(failures).toContainEqual(expect.any(LostSessionError));
    });

    it('works with a pooler in session mode, recognised or not', async () => {
      const sessions = await startPgBouncer(postgres.url, { sessions: 8, mode: 'session' });
      try {
        for (const kind of ['auto', 'none'] as const) {
          const through = open(sessions.url, { pooler: kind, maxConnections: 3 });
          await checkSessions(through);
          expect(await schemaOf(through)).toBe('email_worker');
          await through.end();
          pools.splice(pools.indexOf(through), 1);
        }
      } finally {
        await sessions.stop();
      }
    });

    it('says that the tables are missing where the schema is another one', async () => {
      await expect(checkSessions(open(pooler.url, { schema: 'another' }))).rejects.toThrow(
        'are not in the database',
      );
    });
  },
);
