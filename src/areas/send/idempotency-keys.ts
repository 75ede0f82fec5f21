/**
 * `IdempotencyKeys` on PostgreSQL: the primary key decides which of several requests gets a key. Claims that come while a claim is under
 * way share a statement and a commit, and so do outcomes.
 */
import type { Pool } from 'pg';
import type { SendFailure, SendOutcome } from './use-cases.ts';
import type { ClaimResult, IdempotencyKeys, KeyHold } from './idempotency.ts';
import { ServiceError } from '../../core/errors.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { createBatches, type BatchLimits } from '../../platform/db/batches.ts';
import { isLongOver } from '../../platform/db/from-now.ts';
import { run, runCounting, statement, type Executor } from '../../platform/db/statement.ts';
import { freeDraft, settleDrafts } from './sent-drafts.ts';

/** Tries of a claim. A second one is needed only when another request took or freed the key while the first one ran. */
const MAX_TRIES = 5;

/** Outcomes are small, so the number also bounds the bytes. */
const BATCHED: Omit<BatchLimits, 'name'> = { items: 64, bytes: Infinity, failTogether: false };

interface NewClaim {
  readonly hold: KeyHold;
  readonly fingerprint: Buffer;
}

interface NewOutcome {
  readonly hold: KeyHold;
  readonly outcome: SendOutcome;
}

/** @param instanceId UUID of the data folder: the process that has that folder settles its open keys */
export function createIdempotencyKeys(pool: Pool, instanceId: string): IdempotencyKeys {
  /** null when another request took or freed the key meanwhile. */
  const claimBatched = createBatches<NewClaim, ClaimResult | null>(
    { name: 'claim-idempotency-key', ...BATCHED },
    () => 0,
    async (claims) => {
      const rows = await run(pool, CLAIM, {
        keys: claims.map(({ hold }) => hold.key),
        fingerprints: claims.map(({ fingerprint }) => fingerprint),
        emailIds: claims.map(({ hold }) => hold.emailId),
        queued: claims.map(({ hold }) => hold.queued),
        instanceId,
      });
      const byEmail = new Map(rows.map((row) => [row.email_id, row]));
      return claims.map(({ hold }): ClaimResult | null => {
        const row = byEmail.get(hold.emailId);
        if (row === undefined) return null;
        if (row.is_claimed) return { kind: 'claimed' };
        if (row.fingerprint === null) return null;
        return { kind: 'taken', fingerprint: row.fingerprint, outcome: row.outcome };
      });
    },
  );
  const completeBatched = createBatches<NewOutcome, void>(
    { name: 'complete-idempotency-key', ...BATCHED },
    () => 0,
    async (outcomes) => {
      await run(pool, COMPLETE, {
        keys: outcomes.map(({ hold }) => hold.key),
        emailIds: outcomes.map(({ hold }) => hold.emailId),
        outcomes: outcomes.map(({ outcome }) => toStorableJson(outcome)),
      });
      return outcomes.map(() => undefined);
    },
  );

  return {
    async claim(hold: KeyHold, fingerprint): Promise<ClaimResult> {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        const result = await claimBatched({ hold, fingerprint });
        if (result !== null) return result;
      }
      throw new ServiceError('idempotency_in_progress');
    },

    complete: (hold, outcome) => completeBatched({ hold, outcome }),

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
 * A row for each claim: either the key is ours now, or the row has the data that the key's holder stored. It has neither when another
 * request took the key after this statement began: the insert waits for that request, but the select does not see its row. In the order of
 * the keys, so that two statements with the same keys do not wait for each other in a circle.
 */
const CLAIM = statement(
  'claim-idempotency-keys',
  `with asked as materialized (
    select a.key, a.fingerprint, a.email_id, a.queued
    from unnest($keys::text[], $fingerprints::bytea[], $emailIds::uuid[], $queued::boolean[])
      a (key, fingerprint, email_id, queued)
  ), claimed as (
    insert into idempotency_keys (key, fingerprint, email_id, instance_id, queued)
    select a.key, a.fingerprint, a.email_id, $instanceId, a.queued from asked a order by a.key collate "C"
    on conflict (key) do nothing
    returning email_id
  )
  select a.email_id, c.email_id is not null as is_claimed, k.fingerprint, k.outcome
  from asked a
  left join claimed c on c.email_id = a.email_id
  left join idempotency_keys k on k.key = a.key`,
).narrow<{ email_id: string; is_claimed: boolean; outcome: SendOutcome | null }>();

/** The mail server certainly did not take the email. */
const IS_REFUSED = `coalesce(e.outcome ->> 'code' in ('send_failed', 'send_deferred'), false)`;

const COMPLETE = statement(
  'complete-idempotency-keys',
  `with ended as materialized (
    select e.key, e.email_id, e.outcome::jsonb as outcome
    from unnest($keys::text[], $emailIds::uuid[], $outcomes::text[]) e (key, email_id, outcome)
  ), ${settleDrafts('ended', IS_REFUSED)}
  update idempotency_keys k set outcome = e.outcome
  from ended e where k.key = e.key and k.email_id = e.email_id and k.outcome is null`,
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

const IS_LONG_OVER = isLongOver(`created_at + interval '48 hours'`);

/**
 * 24 hours are promised; the rest is for callers that retry late. Several instances may delete at the same moment. A key that seems a day older
 * than that was written while the clock was behind, or while no process ran: its time begins anew, so that a repeat sends nothing twice.
 */
const DELETE_EXPIRED = statement(
  'delete-expired-idempotency-keys',
  `with renewed as (
    update idempotency_keys set created_at = now() where key in (
      select key from idempotency_keys where ${IS_LONG_OVER} and clock_is_certain() for update skip locked
    )
  )
  delete from idempotency_keys where key in (
    select key from idempotency_keys
    where created_at < now() - interval '48 hours' and not ${IS_LONG_OVER} and clock_is_certain()
    order by created_at limit $limit::int
    for update skip locked
  )`,
);

/** Removes the outcomes of the emails. Their keys stay taken until they expire, so that a repeated request sends nothing a second time. */
export async function forgetOutcomes(executor: Executor, emailIds: readonly string[]): Promise<void> {
  const outcome: SendOutcome = { kind: 'failed', code: 'email_deleted', details: null };
  await run(executor, FORGET_OUTCOMES, { emailIds, outcome: toStorableJson(outcome) });
}

/** Without an index: the table has the keys of two days. */
const FORGET_OUTCOMES = statement(
  'forget-idempotency-outcomes',
  `update idempotency_keys set outcome = $outcome::jsonb where email_id = any ($emailIds::uuid[])`,
);

/** Deletes keys whose text names an address; @param pattern see addressPattern. Returns their number. */
export function forgetKeysNaming(executor: Executor, pattern: string): Promise<number> {
  return runCounting(executor, FORGET_NAMING, { pattern });
}

const FORGET_NAMING = statement(
  'forget-idempotency-keys-naming',
  'delete from idempotency_keys where lower(key) ~ $pattern and outcome is not null',
);

/**
 * Closes the keys of requests whose process is gone, and its journal too: there is no evidence whether a request sent an email that is not
 * recorded. A repeat gets that answer, and sends nothing; its draft is free again, since it has the only text. Returns their number.
 */
export function closeOpenKeys(executor: Executor): Promise<number> {
  const failed = (code: SendFailure['code']) =>
    toStorableJson({ kind: 'failed', code, details: null } satisfies SendFailure);
  return runCounting(executor, CLOSE_OPEN, {
    unknown: failed('send_unknown'),
    failed: failed('send_failed'),
  });
}

const CLOSE_OPEN = statement(
  'close-open-idempotency-keys',
  `with ended as materialized (
    select key, email_id from idempotency_keys where outcome is null
  ), ${settleDrafts('ended', 'not exists (select from emails m where m.id = e.email_id)')}
  update idempotency_keys k set outcome = case
      when e.id is null or (e.state = 'unknown' and not k.queued) then $unknown::jsonb
      when e.state = 'failed' and not k.queued then $failed::jsonb
      else jsonb_build_object('kind', case when k.queued or e.state = any ('{queued,sending,cancelled}') then 'queued' else 'sent' end,
        'id', e.id, 'messageId', coalesce(e.written_message_id, e.message_id), 'threadId', e.thread_id)
    end
  from ended o left join emails e on e.id = o.email_id
  where k.key = o.key`,
);
