import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { createKeyStore, MAX_KEYS } from './key-store.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** @param minutes since the first of them was revoked; each further one a minute before */
const insertKeys = (count: number, start: string, minutes: number | null) =>
  pool.query(
    `insert into api_keys (id, name, secret_hash, rights, created_by, created_at, revoked_at)
    select $2 || lpad(n::text, 11, '0'), 'a', sha256('a'), '{read}', '{}', now() - interval '1 year',
      now() - make_interval(mins => $3::int + n)
    from generate_series(1, $1::int) n`,
    [count, start, minutes],
  );

it('keys that are revoked are read for a while, and no more than may be valid', async () => {
  await insertKeys(2, 'v', null);
  await insertKeys(2, 'o', 30 * 24 * 60);
  await insertKeys(3, 'r', 0);
  const store = createKeyStore(pool);
  const read = async () =>
    ((await store.readAll(null))?.keys ?? [])
      .map(({ id }) => id[0])
      .sort()
      .join('');
  expect(await read()).toBe('rrrvv');
  await insertKeys(MAX_KEYS + 100, 's', 3);
  const all = await read();
  expect(all).toHaveLength(MAX_KEYS + 2);
  expect(all.replaceAll('s', '')).toBe('rrrvv');
});
