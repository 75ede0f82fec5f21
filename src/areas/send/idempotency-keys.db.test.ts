import { randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { query } from '../../../test/helpers/query.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import type { IdempotencyKeys, KeyHold } from './idempotency.ts';
import { createIdempotencyKeys } from './idempotency-keys.ts';

const SENT = { kind: 'failed', code: 'send_failed', details: '550 no' } as const;

let database: TestDatabase;
let pool: Pool;
let keys: IdempotencyKeys;
/** Another instance on the same database. */
let others: IdempotencyKeys;
let hold: KeyHold;
let fingerprint: Buffer;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 10);
  keys = createIdempotencyKeys(pool, randomUUID());
  others = createIdempotencyKeys(pool, randomUUID());
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  hold = newHold();
  fingerprint = randomBytes(32);
});

const newHold = (key: string = randomUUID()): KeyHold => ({ key, emailId: randomUUID(), queued: true });

describe('a claim', () => {
  test('takes a free key and shows others what its holder stored', async () => {
    expect(await keys.claim(hold, fingerprint)).toEqual({ kind: 'claimed' });
    const again = newHold(hold.key);
    expect(await others.claim(again, randomBytes(32))).toEqual({
      kind: 'taken',
      fingerprint,
      outcome: null,
    });
    await keys.complete(hold, SENT);
    expect(await others.claim(again, fingerprint)).toEqual({ kind: 'taken', fingerprint, outcome: SENT });
  });

  test('is won by one of many at the same moment, and none is left without an answer', async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = randomUUID();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 ? keys : others).claim(newHold(key), fingerprint)),
      );
      expect(results.filter((result) => result.kind === 'claimed')).toHaveLength(1);
    }
  });

  test.each(['!', '~'.repeat(256), '"a\'\\\u0024{}"'])('takes any visible ASCII: %s', async (key) => {
    expect(await keys.claim(newHold(key), fingerprint)).toEqual({ kind: 'claimed' });
    expect(await keys.claim(newHold(key), fingerprint)).toMatchObject({ kind: 'taken' });
  });

  // With a space: a key of the service itself, which no caller can send.
  test.each(['', 'ä', 'a\n', 'x'.repeat(257), ` ${'x'.repeat(300)}`])(
    'takes nothing else: %j',
    async (key) => {
      await expect(keys.claim(newHold(key), fingerprint)).rejects.toThrow('violates check constraint');
    },
  );

  test('tells keys apart that differ in case only', async () => {
    await keys.claim(newHold(`${hold.key}-A`), fingerprint);
    expect(await keys.claim(newHold(`${hold.key}-a`), fingerprint)).toEqual({ kind: 'claimed' });
  });
});

describe('an open key', () => {
  test('is listed for its own instance only, until it is not open any more', async () => {
    const completed = newHold();
    for (const each of [hold, completed]) await keys.claim(each, fingerprint);
    expect(await keys.listOpen()).toEqual(expect.arrayContaining([hold, completed]));
    expect(await others.listOpen()).not.toContainEqual(hold);
    await keys.complete(completed, SENT);
    await keys.release(hold);
    expect(await keys.listOpen()).not.toContainEqual(completed);
    expect(await keys.listOpen()).not.toContainEqual(hold);
  });

  test('is free again when it is released', async () => {
    await keys.claim(hold, fingerprint);
    await keys.release(hold);
    expect(await others.claim(newHold(hold.key), fingerprint)).toEqual({ kind: 'claimed' });
  });

  test('is changed by its holder only, and once', async () => {
    await keys.claim(hold, fingerprint);
    const stranger = newHold(hold.key);
    await keys.release(stranger);
    await keys.complete(stranger, { ...SENT, details: 'not mine' });
    expect(await keys.claim(stranger, fingerprint)).toEqual({ kind: 'taken', fingerprint, outcome: null });
    await keys.complete(hold, SENT);
    await keys.complete(hold, { ...SENT, details: 'too late' });
    await keys.release(hold);
    expect(await keys.claim(stranger, fingerprint)).toEqual({ kind: 'taken', fingerprint, outcome: SENT });
  });

  test('is not released when its email is recorded', async () => {
    await keys.claim(hold, fingerprint);
    await query(
      database.connectionString,
      `with thread as (
         insert into email_threads (id, account_id) values (gen_random_uuid(), 'default') returning id
       )
       insert into emails (id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address,
         to_addresses, cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw)
       select $1, 'default', thread.id, 'outbound', 'a@example.com', '{}', '{}', '{}', '[]', '[]', '[]', '', '', now(),
         'sent', 'new', 0, ''
       from thread`,
      [hold.emailId],
    );
    await keys.release(hold);
    expect(await keys.claim(newHold(hold.key), fingerprint)).toMatchObject({ kind: 'taken' });
  });
});

test('keys are deleted after 48 hours, in batches, and never within 24', async () => {
  const age = (key: string, interval: string) =>
    query(
      database.connectionString,
      `update idempotency_keys set created_at = now() - interval '${interval}' where key = $1`,
      [key],
    );
  const holds = Array.from({ length: 5 }, () => newHold());
  for (const one of holds) {
    await keys.claim(one, fingerprint);
    await age(one.key, '48 hours 1 second');
  }
  await keys.claim(hold, fingerprint);
  await age(hold.key, '24 hours 1 second');

  const behind = newHold();
  await keys.claim(behind, fingerprint);
  // Written while the clock was days behind.
  await age(behind.key, '9 days');

  const deleted = await Promise.all([keys.deleteExpired(2), others.deleteExpired(2)]);
  expect(deleted).toEqual([2, 2]);
  expect(await keys.deleteExpired(100)).toBe(1);
  expect(await keys.deleteExpired(100)).toBe(0);
  expect(await keys.listOpen()).toEqual(expect.arrayContaining([hold, behind]));
});
