/** `IdempotencyKeys` on PostgreSQL: the primary key decides which of several requests has a key; each call is one statement. */
import type { Pool, QueryResultRow } from 'pg';
import type { SendOutcome } from '../../../app/send/use-cases.ts';
import type { ClaimResult, IdempotencyKeys, KeyHold } from '../../../app/send/idempotency.ts';
import { ServiceError } from '../../../core/errors.ts';
import { guard } from '../db/pool.ts';

interface TakenRow {
  fingerprint: Buffer | null;
  outcome: SendOutcome | null;
}

interface HoldRow {
  key: string;
  email_id: string;
  queued: boolean;
}

/** Tries of a claim. Another is needed only when another request took or freed the key while the first one ran. */
const MAX_TRIES = 5;

/** @param instanceId UUID of the data folder: the process that has that folder settles its open keys */
export function createIdempotencyKeys(pool: Pool, instanceId: string): IdempotencyKeys {
  const query = async <Row extends QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }> =>
    guard(pool.query<Row>({ name: `idempotency-${name}`, text, values }));

  return {
    async claim({ key, emailId, queued }: KeyHold, fingerprint): Promise<ClaimResult> {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        const { rows } = await query<TakenRow>('claim', CLAIM, [
          key,
          fingerprint,
          emailId,
          instanceId,
          queued,
        ]);
        const [row] = rows;
        if (row === undefined) continue;
        if (row.fingerprint === null) return { kind: 'claimed' };
        return { kind: 'taken', fingerprint: row.fingerprint, outcome: row.outcome };
      }
      throw new ServiceError('idempotency_in_progress');
    },

    async complete({ key, emailId }, outcome) {
      await query('complete', COMPLETE, [key, emailId, JSON.stringify(outcome)]);
    },

    async release({ key, emailId }) {
      await query('release', RELEASE, [key, emailId]);
    },

    async listOpen(): Promise<readonly KeyHold[]> {
      const { rows } = await query<HoldRow>('list-open', LIST_OPEN, [instanceId]);
      return rows.map((row) => ({ key: row.key, emailId: row.email_id, queued: row.queued }));
    },

    async deleteExpired(limit) {
      return (await query('delete-expired', DELETE_EXPIRED, [limit])).rowCount ?? 0;
    },
  };
}

/**
 * One row: without a fingerprint when the key is ours now, else what its holder stored. No row when another
 * request took it after this statement began: the insert waits for that request, but the select does not see its row.
 */
const CLAIM = `
  with claimed as (
    insert into idempotency_keys (key, fingerprint, email_id, instance_id, queued) values ($1, $2, $3, $4, $5)
    on conflict (key) do nothing
    returning key
  )
  select null::bytea as fingerprint, null::jsonb as outcome from claimed
  union all
  select k.fingerprint, k.outcome from idempotency_keys k where k.key = $1`;

const COMPLETE = `
  update idempotency_keys set outcome = $3 where key = $1 and email_id = $2 and outcome is null`;

const RELEASE = `
  delete from idempotency_keys
  where key = $1 and email_id = $2 and outcome is null and not exists (select from emails where id = $2)`;

const LIST_OPEN = `
  select key, email_id, queued from idempotency_keys where instance_id = $1 and outcome is null order by created_at`;

/** 24 hours are promised; the rest is for callers that retry late. Several instances may delete at the same moment. */
const DELETE_EXPIRED = `
  delete from idempotency_keys where key in (
    select key from idempotency_keys where created_at < now() - interval '48 hours'
    order by created_at limit $1
    for update skip locked
  )`;
