/** Single rows of the queue, in transactions that lock them before their email; send-queue.ts changes many at once. */
import { defaultLane, PRIORITIES, type QueuedSend } from '../../core/delivery/priority.ts';
import type { Conclusion } from '../../core/delivery/conclude.ts';
import { after, fromNow, inMs, isLongOver } from '../../platform/db/from-now.ts';
import { run, runCounting, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { beginUnseen, loseWaiting, setState } from './send-states.ts';

/** Makes a row of the queue free. */
export const FREE = 'owner = null, claim_id = null, lease_until = null, claimed_at = null, begun_at = null';

/** True if a process has claimed the send of the email `e`, and may be handing it over. */
export const isClaimed = (e: string): string =>
  `exists (select from send_queue q where q.email_id = ${e}.id and q.lease_until is not null)`;

export type QueueRow = RowOf<typeof LOCK>;

export async function lockQueueRow(executor: Executor, emailId: string): Promise<QueueRow | undefined> {
  for (;;) {
    const [row] = await run(executor, LOCK, { emailId });
    if (row !== undefined) return row;
    // A statement that waited for a change of the send finds that the row it saw is gone, and does not find the one in its place.
    if ((await run(executor, IS_THERE, { emailId })).length === 0) return undefined;
  }
}

const IS_THERE = statement('is-in-queue', 'select from send_queue where email_id = $emailId');

/** `is_claimed`: a process works on it. */
const LOCK = statement(
  'lock-queue-row',
  `select owner, claim_id, timed_from, attempts, version, lease_until is not null as is_claimed,
    case when clock_is_certain() and not ${isLongOver('give_up_at')}
      then (extract(epoch from give_up_at - now()) * 1000)::float8 end as give_up_in_ms, now() as read_at
  from send_queue where email_id = $emailId for update`,
).narrow<{ is_claimed: boolean; give_up_in_ms: number | null; read_at: Date }>();

/** The columns that insertQueued needs from the JSON of an email that is to be recorded (emails/email-row.ts). */
export const QUEUE_COLUMNS = `account_id text, lane text, priority smallint, due_at timestamptz, due_in_ms float8,
  timed_from timestamptz, give_up_after_ms float8, attempts jsonb`;

export const toQueueRow = (queue: QueuedSend | null) => ({
  lane: queue?.lane ?? null,
  priority: queue === null ? null : PRIORITIES.indexOf(queue.priority),
  due_at: queue?.dueAt ?? null,
  due_in_ms: queue?.dueInMs ?? null,
  timed_from: queue?.timedFrom ?? null,
  give_up_after_ms: queue?.giveUpAfterMs ?? null,
});

/** @param source rows `r` of emails that are new: a repeat must not queue again an email that was sent meanwhile */
export const insertQueued = (source: string): string => `
  insert into send_queue (email_id, account_id, lane, priority, due_at, send_at, timed_from, give_up_at, give_up_after, attempts)
  select r.id, r.account_id, r.lane, r.priority, coalesce(r.due_at, ${fromNow('r.due_in_ms')}), r.due_at, r.timed_from,
    ${after('coalesce(r.due_at, now())', 'r.give_up_after_ms')}, ${inMs('r.give_up_after_ms')}, jsonb_array_length(r.attempts)
  from ${source}
  where r.lane is not null`;

/** Gives the email its state, and puts its queue row back or removes it. @param tookMs of an email that is now sent; null: not known */
export async function applyConclusion(
  executor: Executor,
  emailId: string,
  { state, detail, dueInMs }: Conclusion,
  tookMs: number | null = null,
): Promise<void> {
  if (dueInMs === null) await dequeue(executor, emailId);
  else await run(executor, PUT_BACK, { emailId, dueInMs });
  await setState(executor, emailId, state, detail, state === 'sent' ? tookMs : null);
}

const PUT_BACK = statement(
  'put-back-into-queue',
  `update send_queue set ${FREE}, due_at = ${fromNow('$dueInMs')}, send_at = null,
    give_up_at = case when clock_is_certain() and ${isLongOver('give_up_at')} then now() + give_up_after
      else give_up_at end
  where email_id = $emailId`,
);

export async function dequeue(executor: Executor, emailId: string): Promise<void> {
  await run(executor, DEQUEUE, { emailId });
}

const DEQUEUE = statement('dequeue', 'delete from send_queue where email_id = $emailId');

/** Makes the next attempt of the send due now. */
export async function bringForward(executor: Executor, emailId: string): Promise<void> {
  await run(executor, BRING_FORWARD, { emailId });
}

/** Replaces a free row that was never claimed by another row. @param due null: now */
export async function replaceQueueRow(
  executor: Executor,
  emailId: string,
  { dueAt, giveUpAfterMs }: { readonly dueAt: Date | null; readonly giveUpAfterMs: number },
): Promise<void> {
  const [row] = await run(executor, TAKE_OUT, { emailId });
  if (row === undefined) throw new Error('the row of a send that was locked is gone');
  await run(executor, PUT_IN, {
    emailId,
    accountId: row.account_id,
    lane: row.lane,
    priority: row.priority,
    version: row.version + 1,
    dueAt,
    giveUpAfterMs,
  });
}

const TAKE_OUT = statement(
  'take-out-of-queue',
  `delete from send_queue where email_id = $emailId
  returning account_id, lane, priority, timed_from, attempts, version`,
);

const PUT_IN = statement(
  'put-into-queue-changed',
  `insert into send_queue (email_id, account_id, lane, priority, due_at, send_at, timed_from, give_up_at, give_up_after,
    version)
  select $emailId, $accountId, $lane, $priority, d.at, $dueAt::timestamptz, d.at, ${after('d.at', '$giveUpAfterMs')},
    ${inMs('$giveUpAfterMs')}, $version
  from (select coalesce($dueAt::timestamptz, now()) as at) d`,
);

const BRING_FORWARD = statement(
  'bring-forward-in-queue',
  'update send_queue set due_at = now(), send_at = null where email_id = $emailId',
);

/**
 * Puts the email into the queue as a free row, whatever row it has; the count of attempts goes on from where it ended. Always as another
 * row: a claim that saw the row before, and stood still since, would take this one with the recipients of that time. It is due now.
 */
export async function enqueue(
  executor: Executor,
  email: { readonly id: string; readonly placement_rule: string },
  giveUpAfterMs: number,
): Promise<void> {
  const [before] = await run(executor, TAKE_OUT, { emailId: email.id });
  await run(executor, ENQUEUE, {
    emailId: email.id,
    lane: before?.lane ?? defaultLane(email.placement_rule),
    priority: before?.priority ?? PRIORITIES.indexOf('normal'),
    timedFrom: before?.timed_from ?? null,
    attempts: before?.attempts ?? 0,
    giveUpAfterMs,
  });
}

const ENQUEUE = statement(
  'enqueue-again',
  // A version other than any that a caller may know from the row before.
  `insert into send_queue (email_id, account_id, lane, priority, due_at, timed_from, give_up_at, give_up_after, attempts, version)
  select e.id, e.account_id, $lane, $priority, now(), coalesce($timedFrom, now()), ${fromNow('$giveUpAfterMs')},
    ${inMs('$giveUpAfterMs')},
    greatest($attempts::int, (select max(a.attempt) from delivery_attempts a where a.email_id = e.id)),
    1000 + floor(random() * 900000000)::int
  from emails e where e.id = $emailId`,
);

/**
 * Takes sends out of the queue whose outcome can't be known: the database was restored from an older copy, and a later one may have sent
 * them. They become `unknown`, so that evidence or an operator decides. Returns their number.
 *
 * @param evenUnclaimed also sends that no process had claimed
 */
export function holdSends(executor: Executor, detail: string, evenUnclaimed: boolean): Promise<number> {
  return runCounting(executor, HOLD, { detail, evenUnclaimed });
}

const HOLD = statement(
  'hold-sends',
  `with held as materialized (
    delete from send_queue where owner is not null or $evenUnclaimed::boolean returning email_id, attempts, claimed_at
  ), begun as (
    select * from held where claimed_at is not null
  ), ${beginUnseen('begun', '$detail')}, ${loseWaiting('held', '$detail')}
  select from held`,
);
