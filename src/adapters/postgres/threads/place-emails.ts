/**
 * Writes where recorded emails are, and why, and is alone in it: the columns thread_id, placement_rule, placement_message_id,
 * anchor_id and party_id of `emails`. For transactions that hold the locks of the threads.
 */
import { sql, type Transaction } from 'kysely';
import type { Placement } from '../../../app/emails/email-ports.ts';
import type { Move } from '../../../core/thread/plan-threads.ts';
import type { Database } from '../db/database.ts';

export async function moveEmails(trx: Transaction<Database>, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  // Sorted, so that two transactions never wait for each other in a circle.
  const sorted = moves.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await sql`
    update emails e set thread_id = m.thread_id
    from unnest(
      ${sorted.map(({ id }) => id)}::uuid[], ${sorted.map(({ to }) => to)}::uuid[]
    ) as m (id, thread_id)
    where e.id = m.id`.execute(trx);
}

/** All that are in the ending threads. */
export async function handOverEmails(
  trx: Transaction<Database>,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await sql`update emails set thread_id = ${survivorId} where thread_id = any(${[...endingIds]}::uuid[])`.execute(
    trx,
  );
}

export interface EmailReason {
  readonly id: string;
  readonly rule: Placement['rule'];
  readonly messageId: string | null;
}

export async function setReasons(trx: Transaction<Database>, reasons: readonly EmailReason[]): Promise<void> {
  if (reasons.length === 0) return;
  await sql`
    update emails e set placement_rule = n.rule, placement_message_id = n.message_id
    from unnest(
      ${reasons.map(({ id }) => id)}::uuid[], ${reasons.map(({ rule }) => rule)}::text[],
      ${reasons.map(({ messageId }) => messageId)}::text[]
    ) as n (id, rule, message_id)
    where e.id = n.id`.execute(trx);
}

/** What their senders said about their place no longer counts. */
export async function setDecided(trx: Transaction<Database>, emailIds: readonly string[]): Promise<void> {
  await sql`
    update emails set placement_rule = 'decision', placement_message_id = null, anchor_id = null
    where id = any(${[...emailIds]}::uuid[])`.execute(trx);
}

/** Emails beside one of the old ones are beside the new one. */
export async function moveAnchors(
  trx: Transaction<Database>,
  anchorId: string,
  oldIds: readonly string[],
): Promise<void> {
  await sql`update emails set anchor_id = ${anchorId} where anchor_id = any(${[...oldIds]}::uuid[])`.execute(
    trx,
  );
}

/** The party of each thread is the first customer that one of its sends names. */
export async function settleParties(trx: Transaction<Database>, threadIds: readonly string[]): Promise<void> {
  await sql`
    update emails e set party_id = f.customer_id
    from (
      select distinct on (thread_id) thread_id, customer_id from emails
      where thread_id = any(${[...threadIds]}::uuid[]) and customer_source = 'explicit'
      order by thread_id, created_at, id
    ) f
    where e.thread_id = f.thread_id and e.customer_source = 'explicit' and e.party_id is distinct from f.customer_id`.execute(
    trx,
  );
}
