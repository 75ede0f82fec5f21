/**
 * Writes the place of recorded emails, and the reason; only this module does: the columns thread_id, placement_rule, placement_message_id,
 * anchor_id and party_id of `emails`. For transactions that hold the locks of the threads.
 */
import type { Placement } from '../../../app/emails/email-ports.ts';
import type { Move } from '../../../core/thread/plan-threads.ts';
import { run, runCounting, statement, type Executor } from '../db/statement.ts';

export async function moveEmails(executor: Executor, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  // Sorted, so that two transactions never wait for each other in a circle.
  const sorted = moves.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await run(executor, MOVE, { ids: sorted.map(({ id }) => id), threadIds: sorted.map(({ to }) => to) });
}

const MOVE = statement(
  'move-emails',
  `update emails e set thread_id = m.thread_id
  from unnest($ids::uuid[], $threadIds::uuid[]) as m (id, thread_id)
  where e.id = m.id and e.thread_id <> m.thread_id`,
);

/** Hands over all emails of the ending threads. */
export async function handOverEmails(
  executor: Executor,
  survivorId: string,
  endingIds: readonly string[],
): Promise<void> {
  await run(executor, HAND_OVER, { survivorId, endingIds });
}

const HAND_OVER = statement(
  'hand-over-emails',
  'update emails set thread_id = $survivorId where thread_id = any($endingIds::uuid[])',
);

export interface EmailReason {
  readonly id: string;
  readonly rule: Placement['rule'];
  readonly messageId: string | null;
}

export async function setReasons(executor: Executor, reasons: readonly EmailReason[]): Promise<void> {
  if (reasons.length === 0) return;
  await run(executor, SET_REASONS, {
    ids: reasons.map(({ id }) => id),
    rules: reasons.map(({ rule }) => rule),
    messageIds: reasons.map(({ messageId }) => messageId),
  });
}

const SET_REASONS = statement(
  'set-placement-reasons',
  `update emails e set placement_rule = n.rule, placement_message_id = n.message_id
  from unnest($ids::uuid[], $rules::text[], $messageIds::text[]) as n (id, rule, message_id)
  where e.id = n.id`,
);

/** From now on their senders' choice of place no longer counts. */
export async function setDecided(executor: Executor, emailIds: readonly string[]): Promise<void> {
  await run(executor, SET_DECIDED, { emailIds });
}

const SET_DECIDED = statement(
  'set-placement-decided',
  `update emails set placement_rule = 'decision', placement_message_id = null, anchor_id = null
  where id = any($emailIds::uuid[])`,
);

/** Emails beside one of the old ones are now beside the new one. */
export async function moveAnchors(
  executor: Executor,
  anchorId: string,
  oldIds: readonly string[],
): Promise<void> {
  await run(executor, MOVE_ANCHORS, { anchorId, oldIds });
}

const MOVE_ANCHORS = statement(
  'move-anchors',
  'update emails set anchor_id = $anchorId where anchor_id = any($oldIds::uuid[])',
);

/** The party of each thread is the first customer that one of its sends names. Returns the number of sends whose party has changed. */
export function renewParties(executor: Executor, threadIds: readonly string[]): Promise<number> {
  return runCounting(executor, RENEW_PARTIES, { threadIds });
}

const RENEW_PARTIES = statement(
  'renew-parties',
  `update emails e set party_id = f.customer_id
  from (
    select distinct on (thread_id) thread_id, customer_id from emails
    where thread_id = any($threadIds::uuid[]) and customer_source = 'explicit'
    order by thread_id, created_at, id
  ) f
  where e.thread_id = f.thread_id and e.customer_source = 'explicit' and e.party_id is distinct from f.customer_id`,
);
