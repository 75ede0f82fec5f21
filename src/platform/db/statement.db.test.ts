import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, isPooled, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { allStatements, run, runCounting, statement, statements, type Statement } from './statement.ts';
import { inTransaction } from './transaction.ts';

declare module './statement.ts' {
  interface StatementTypes {
    'test-echo': { values: { word: string | null; times: number | null }; row: { said: string | null } };
    'test-mark': { values: { digest: Buffer | null }; row: object };
    'test-family': { values: { at?: number | null }; row: { at: number | null } };
  }
}

const ECHO = statement('test-echo', `select repeat($word::text, $times::int) || $word::text as said`).narrow<{
  said: string;
}>();
const MARK = statement(
  'test-mark',
  `insert into import_marks (account_id, source) values ('sales', $digest), ('support', $digest)`,
);
const FAMILY = statements(
  'test-family',
  { asksAt: [false, true], word: [null, 'one'] },
  ({ asksAt }) => `select ${asksAt ? '$at::int' : '0'} as at`,
  { plannedEachTime: 'to test it', when: ({ word }) => word === 'one' },
);

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 1);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const namesOnServer = async () =>
  (await pool.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(
    ({ name }) => name,
  );

describe('a statement', () => {
  it('takes its values by name, each as often as its text has it', async () => {
    expect(ECHO.text).toBe('select repeat($1::text, $2::int) || $1::text as said');
    expect(await run(pool, ECHO, { times: 2, word: 'ab' })).toEqual([{ said: 'ababab' }]);
  });

  it('runs on the connection of a transaction too', async () => {
    const rows = await inTransaction(pool, (client) => run(client, ECHO, { word: 'x', times: 1 }));
    expect(rows).toEqual([{ said: 'xx' }]);
  });

  it.skipIf(isPooled)('is kept by the server under its name, unless it is planned each time', async () => {
    const of = FAMILY as { of(choice: unknown): Statement<{ at?: number | null }, { at: number | null }> };
    expect(await run(pool, of.of({ asksAt: true, word: null }), { at: 7 })).toEqual([{ at: 7 }]);
    expect(await run(pool, of.of({ asksAt: false, word: 'one' }), {})).toEqual([{ at: 0 }]);
    const names = await namesOnServer();
    expect(names).toContain('test-family 1 -');
    expect(names).not.toContain('test-family 0 one');
  });

  it('says which value is missing, and runs nothing', async () => {
    await expect(run(pool, FAMILY.of({ asksAt: true, word: null }), {})).rejects.toThrow(
      'the statement test-family 1 - needs a value of at',
    );
  });

  it('tells how many rows it wrote', async () => {
    expect(await runCounting(pool, MARK, { digest: Buffer.alloc(32) })).toBe(2);
  });

  it('has a name of its own', () => {
    expect(() => statement('test-echo', 'select 1')).toThrow('two statements with the name test-echo');
  });
});

it('a family tells the generator each of its statements', () => {
  const all = allStatements().get('test-family')?.() ?? [];
  expect(all.map(({ name }) => name)).toEqual([
    'test-family 0 -',
    'test-family 0 one',
    'test-family 1 -',
    'test-family 1 one',
  ]);
});
