/**
 * Writes the place of recorded emails, and the reason; only this module does: the columns thread_id, placement_rule, placement_message_id,
 * anchor_id and party_id of `emails`. For transactions that hold the locks of the threads.
 */
import type { Placement } from '../emails/email-ports.ts';
import type { Move } from '../../core/thread/plan-threads.ts';
import { run, runCounting, statement, type Executor } from '../../platform/db/statement.ts';
import { lockedEmails } from '../emails/lock-emails.ts';

export async function moveEmails(executor: Executor, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  await run(executor, MOVE, { ids: moves.map(({ id }) => id), threadIds: moves.map(({ to }) => to) });
}

const MOVE = statement(
  'move-emails',
  `with ${lockedEmails('e.id = any($ids::uuid[])')}
  update emails e set thread_id = m.thread_id
  from unnest($ids::uuid[], $threadIds::uuid[]) as m (id, thread_id) join locked_emails l on l.id = m.id
  where e.id = l.id and e.thread_id <> m.thread_id`,
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
  `with ${lockedEmails('e.thread_id = any($endingIds::uuid[])')}
  update emails e set thread_id = $survivorId from locked_emails l where e.id = l.id`,
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
  `with ${lockedEmails('e.id = any($ids::uuid[])')}
  update emails e set placement_rule = n.rule, placement_message_id = n.message_id
  from unnest($ids::uuid[], $rules::text[], $messageIds::text[]) as n (id, rule, message_id)
    join locked_emails l on l.id = n.id
  where e.id = l.id`,
);

/** From now on their senders' choice of place no longer counts. */
export async function setDecided(executor: Executor, emailIds: readonly string[]): Promise<void> {
  await run(executor, SET_DECIDED, { emailIds });
}

const SET_DECIDED = statement(
  'set-placement-decided',
  `with ${lockedEmails('e.id = any($emailIds::uuid[])')}
  update emails e set placement_rule = 'decision', placement_message_id = null, anchor_id = null
  from locked_emails l where e.id = l.id`,
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
  `with ${lockedEmails('e.anchor_id = any($oldIds::uuid[])')}
  update emails e set anchor_id = $anchorId from locked_emails l where e.id = l.id`,
);

/** The party of each thread is the first customer that one of its sends names. Returns the number of sends whose party has changed. */
export function renewParties(executor: Executor, threadIds: readonly string[]): Promise<number> {
  return runCounting(executor, RENEW_PARTIES, { threadIds });
}

const RENEW_PARTIES = statement(
  'renew-parties',
  `with ${lockedEmails("e.thread_id = any($threadIds::uuid[]) and e.customer_source = 'explicit'")}
  update emails e set party_id = f.customer_id
  from locked_emails l, (
    select distinct on (thread_id) thread_id, customer_id from emails
    where thread_id = any($threadIds::uuid[]) and customer_source = 'explicit'
    order by thread_id, created_at, id
  ) f
  where e.id = l.id and e.thread_id = f.thread_id and e.party_id is distinct from f.customer_id`,
);
