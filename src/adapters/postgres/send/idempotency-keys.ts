/** `IdempotencyKeys` on PostgreSQL: the primary key decides which of several requests has a key; each call is one statement. */
import type { Pool } from 'pg';
import type { SendOutcome } from '../../../app/send/use-cases.ts';
import type { ClaimResult, IdempotencyKeys, KeyHold } from '../../../app/send/idempotency.ts';
import { ServiceError } from '../../../core/errors.ts';
import { run, runCounting, statement, type Executor } from '../db/statement.ts';
import { freeDraft, settleDraft } from '../drafts/sent-drafts.ts';

/** Tries of a claim. Another is needed only when another request took or freed the key while the first one ran. */
const MAX_TRIES = 5;

/** @param instanceId UUID of the data folder: the process that has that folder settles its open keys */
export function createIdempotencyKeys(pool: Pool, instanceId: string): IdempotencyKeys {
  return {
    async claim({ key, emailId, queued }: KeyHold, fingerprint): Promise<ClaimResult> {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        const [row] = await run(pool, CLAIM, { key, fingerprint, emailId, instanceId, queued });
        if (row === undefined) continue;
        if (row.fingerprint === null) return { kind: 'claimed' };
        return { kind: 'taken', fingerprint: row.fingerprint, outcome: row.outcome };
      }
      throw new ServiceError('idempotency_in_progress');
    },

    async complete({ key, emailId }, outcome) {
      await run(pool, COMPLETE, { key, emailId, outcome: JSON.stringify(outcome) });
    },

    async release({ key, emailId }) {
      await run(pool, RELEASE, { key, emailId });
    },

    async listOpen(): Promise<readonly KeyHold[]> {
      const rows = await run(pool, LIST_OPEN, { instanceId });
      return rows.map((row) => ({ key: row.key, emailId: row.email_id, queued: row.queued }));
    },

    async deleteExpired(limit) {
      return runCounting(pool, DELETE_EXPIRED, { limit });
    },
  };
}

/**
 * One row: without a fingerprint when the key is ours now, else what its holder stored. No row when another
 * request took it after this statement began: the insert waits for that request, but the select does not see its row.
 */
const CLAIM = statement(
  'claim-idempotency-key',
  `with claimed as (
    insert into idempotency_keys (key, fingerprint, email_id, instance_id, queued)
    values ($key, $fingerprint, $emailId, $instanceId, $queued)
    on conflict (key) do nothing
    returning key
  )
  select null::bytea as fingerprint, null::jsonb as outcome from claimed
  union all
  select k.fingerprint, k.outcome from idempotency_keys k where k.key = $key`,
).narrow<{ outcome: SendOutcome | null }>();

/** The mail server did not take it, and certainly so. */
const IS_REFUSED = `coalesce($outcome::jsonb ->> 'code' in ('send_failed', 'send_deferred'), false)`;

const COMPLETE = statement(
  'complete-idempotency-key',
  `with ${settleDraft('$emailId', IS_REFUSED)}
  update idempotency_keys set outcome = $outcome::jsonb where key = $key and email_id = $emailId and outcome is null`,
);

const RELEASE = statement(
  'release-idempotency-key',
  `with released as (
    delete from idempotency_keys
    where key = $key and email_id = $emailId and outcome is null
      and not exists (select from emails where id = $emailId)
    returning email_id
  ), ${freeDraft('any (select email_id from released)')}
  select from released`,
);

const LIST_OPEN = statement(
  'open-idempotency-keys',
  `select key, email_id, queued from idempotency_keys
  where instance_id = $instanceId and outcome is null order by created_at`,
);

/** 24 hours are promised; the rest is for callers that retry late. Several instances may delete at the same moment. */
const DELETE_EXPIRED = statement(
  'delete-expired-idempotency-keys',
  `delete from idempotency_keys where key in (
    select key from idempotency_keys where created_at < now() - interval '48 hours'
    order by created_at limit $limit::int
    for update skip locked
  )`,
);

/**
 * Nothing is left of the emails' outcomes. Their keys stay taken until they expire, so that a repeated request sends nothing
 * a second time.
 */
export async function forgetOutcomes(executor: Executor, emailIds: readonly string[]): Promise<void> {
  const outcome: SendOutcome = { kind: 'failed', code: 'email_deleted', details: null };
  await run(executor, FORGET_OUTCOMES, { emailIds, outcome: JSON.stringify(outcome) });
}

/** Without an index: the table has the keys of two days. */
const FORGET_OUTCOMES = statement(
  'forget-idempotency-outcomes',
  `update idempotency_keys set outcome = $outcome::jsonb where email_id = any ($emailIds::uuid[])`,
);

/** Keys whose text names an address; @param pattern see addressPattern. Returns their number. */
export function forgetKeysNaming(executor: Executor, pattern: string): Promise<number> {
  return runCounting(executor, FORGET_NAMING, { pattern });
}

const FORGET_NAMING = statement(
  'forget-idempotency-keys-naming',
  'delete from idempotency_keys where lower(key) ~ $pattern and outcome is not null',
);
