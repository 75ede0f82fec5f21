import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { alwaysCertain } from '../../../test/helpers/always-certain.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { createSentCopyQueue } from './sent-copies.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores());
});
afterAll(() => end());

it('copies that wait for an account without copies are given up, with the reason', async () => {
  const queue = createSentCopyQueue(pool, alwaysCertain);
  /** @param claim null: no process has claimed it */
  const wait = async (accountId: string, claim: string | null, due: string) => {
    const record = outboundRecord();
    await store.recordOutbound(record);
    await pool.query(
      `insert into sent_copies (email_id, account_id, claim_id, due_at) values ($1, $2, $3, now() + $4::interval)`,
      [record.id, accountId, claim, due],
    );
    return record.id;
  };
  const waiting = await wait('off', null, '1 day');
  const ofOneThatDied = await wait('off', randomUUID(), '-1 minute');
  const inHand = await wait('off', randomUUID(), '1 hour');
  const ofAnother = await wait('on', null, '1 day');

  expect(await queue.giveUp(['off', 'unknown'], 'it is off')).toBe(2);
  const { rows } = await pool.query<{ email_id: string; state: string; last_error: string | null }>(
    'select email_id, state, last_error from sent_copies',
  );
  const stateOf = Object.fromEntries(rows.map(({ email_id, ...rest }) => [email_id, rest]));
  const givenUp = { state: 'failed', last_error: 'it is off' };
  const untouched = { state: 'pending', last_error: null };
  expect(stateOf).toEqual({
    [waiting]: givenUp,
    [ofOneThatDied]: givenUp,
    [inHand]: untouched,
    [ofAnother]: untouched,
  });
  expect(await queue.giveUp([], 'it is off')).toBe(0);
});
