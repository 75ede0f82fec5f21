/** The cost of completing an address: the number of rows read does not grow with the number of known addresses. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMailStores } from '../../../test/helpers/mail-stores.ts';
import { type KnownAddresses, createKnownAddresses } from './known-addresses.ts';
import { typedAddress } from '../../core/address/typed-address.ts';

/** Enough that reading all of them would show. */
const ADDRESSES = 50_000;
/**
 * Bound on the rows read for a walk, counts, and a word that some hundred addresses have, in two accounts; each is looked at in both
 * tables.
 */
const MAX_READ = 10_000;
const TABLES = ['known_addresses', 'known_address_words'];

let end: () => Promise<void>;
let pool: pg.Pool;
let known: KnownAddresses;

beforeAll(async () => {
  // One connection, because the tests look at its plans and counters.
  ({ pool, end } = await openMailStores(1));
  known = createKnownAddresses(pool);
  // Every tenth address begins with info; every thousandth, among the last of all, with rare.
  await pool.query(
    `insert into known_addresses (account_id, address, rank, last_at, words)
    select case i % 2 when 0 then 'main' else 'other' end, a.address, ${ADDRESSES} - i, now(),
      concat(E'\\n', a.address, E'\\n@d', i % 500, '.test')
    from generate_series(1, ${ADDRESSES}) i cross join lateral (select concat(case
      when i % 10 = 0 then 'info' when i > ${ADDRESSES / 2} and i % 100 = 1 then 'rare' else 'person' end, i, '@d', i % 500, '.test') as address) a`,
  );
  await pool.query(
    `insert into known_address_words (account_id, word, address)
    select account_id, word, address from known_addresses, unnest(string_to_array(substr(words, 2), E'\\n')) word`,
  );
  await pool.query('vacuum analyze known_addresses, known_address_words');
  await pool.query('set plan_cache_mode = force_generic_plan');
});
afterAll(() => end());

async function rowsRead(act: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ n: string }>(
      `select sum(t.seq_tup_read + coalesce(i.n, 0)) as n from pg_stat_user_tables t
      left join (select relid, sum(idx_tup_read) as n from pg_stat_user_indexes group by relid) i on i.relid = t.relid
      where t.relname = any ($1)`,
      [TABLES],
    );
    return Number(rows[0]!.n);
  };
  const before = await read();
  await act();
  return (await read()) - before;
}

const complete = (text: string, accountIds = ['main', 'other']) =>
  known.complete({ accountIds, words: typedAddress(text), ownAddresses: ['info10@d10.test'], limit: 10 });
const firstOf = async (text: string, accountIds?: string[]) =>
  (await complete(text, accountIds)).slice(0, 3).map(({ address }) => address);

describe('completing', () => {
  it.each([
    ['what every address begins with', 'p'],
    ['what a tenth begins with', 'info'],
    ['what few begin with', 'rare'],
    ['one address', `rare${ADDRESSES - 99}@`],
    ['what nothing begins with', 'zzz'],
    ['a domain', '@d7.'],
    ['two words', 'person @d17.'],
    ['a common word and one that nothing begins with', 'info zzz'],
  ])('reads a bounded part of the addresses for %s', async (_, text) => {
    expect(await rowsRead(() => complete(text))).toBeLessThan(MAX_READ);
    expect(await rowsRead(() => complete(text, ['main']))).toBeLessThan(MAX_READ);
  });

  it.each([
    ['nothing', ''],
    ['what every address begins with', 'p'],
    ['what a tenth begins with', 'info'],
  ])('for %s ends where the answer is full', async (_, text) => {
    expect(await rowsRead(() => complete(text, ['main']))).toBeLessThan(MAX_READ / 10);
  });

  it('finds the best, by either way', async () => {
    expect(await firstOf('p')).toEqual(['person1@d1.test', 'person2@d2.test', 'person3@d3.test']);
    expect(await firstOf('p', ['main'])).toEqual(['person2@d2.test', 'person4@d4.test', 'person6@d6.test']);
    expect(await firstOf('info')).toEqual(['info20@d20.test', 'info30@d30.test', 'info40@d40.test']);
    const half = ADDRESSES / 2;
    expect(await firstOf('rare')).toEqual(
      [1, 101, 201].map((more) => `rare${half + more}@d${(half + more) % 500}.test`),
    );
    expect(await firstOf('rare', ['main'])).toEqual([]);
    expect(await firstOf('')).toEqual(['person1@d1.test', 'person2@d2.test', 'person3@d3.test']);
  });
});
