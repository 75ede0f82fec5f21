/**
 * Claims due sends, in one statement: no two processes ever get the same send (`for update skip locked`).
 *
 * Within the highest priority that has due sends, up to `limit` lanes are visited in turn, beginning after the lane served last; each gives
 * an equal share. The lanes are found by a loose index scan (one probe of `send_queue_lane` for each), so a lane with a hundred thousand
 * rows costs as much as one with a single row. Measured with 100,000 due rows: see docs/decisions/0001-send-queue.md.
 *
 * A send whose caller named its moment is due only when that moment is certain to have come (`CertainUntil`): what goes out can't be taken back.
 */
import type { Claim, ClaimedSends, ClaimRequest } from './queue-ports.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';
import { hasLeftList } from '../unsubscribes/unsubscribe-store.ts';

export async function claimSends(
  executor: Executor,
  { accountId, owner, leaseMs, afterLane, withFiles = true }: ClaimRequest,
  limit: number,
  certainUntil: Date,
): Promise<ClaimedSends> {
  const rows = await run(executor, CLAIM.of({ files: withFiles }), {
    accountId,
    owner,
    limit,
    leaseMs,
    afterLane,
    certainUntil,
  });
  return {
    claims: rows.map((row): Claim => ({
      emailId: row.email_id,
      claimId: row.claim_id,
      attempt: row.attempt,
      accountId,
      envelope: { mailFrom: row.mail_from, rcptTo: row.rcpt_to, envelopeId: row.message_id },
      suppressed: row.suppressed,
      raw: row.raw,
      rawPath: row.raw_path,
      rawSizeBytes: Number(row.raw_size_bytes),
    })),
    lastLane: rows.at(-1)?.lane ?? afterLane,
    waitMs: 0,
  };
}

/** The next attempt of a row is due. */
export const IS_DUE = 'q.due_at <= now() and (q.send_at is null or q.send_at <= $certainUntil::timestamptz)';

/** A row of the queue that waits for its next attempt, and that a process may take which can't read files. */
const waits = (files: boolean) =>
  files
    ? 'q.owner is null'
    : 'q.owner is null and (select e.raw_path is null from emails e where e.id = q.email_id)';

/** A row of the current account and priority that waits for its next attempt. */
const free = (files: boolean) =>
  `q.account_id = $accountId and q.priority = (select priority from top) and ${waits(files)}`;

/**
 * The time when the first of some rows is due. Not `exists`: for that the planner may scan the whole table, hoping to meet a row early, and
 * finds nothing to do.
 */
export const firstDue = (condition: string) =>
  `(select q.due_at from send_queue q where ${condition} order by q.due_at limit 1)`;

/** The lane after `lane`, for a loose index scan. */
const nextLane = (lane: string, files: boolean) =>
  `(select min(q.lane) from send_queue q where ${free(files)} and q.lane > ${lane})`;

/** `$afterLane`: the lane served last. */
const CLAIM = statements(
  'claim-sends',
  { files: [true, false] },
  ({ files }) => `
  with recursive top as materialized (
    select p as priority from generate_series(0, 2) p
    where ${firstDue(`q.account_id = $accountId and q.priority = p and ${waits(files)} and ${IS_DUE}`)} is not null
    order by p limit 1
  ), later_lanes (lane) as (
    select ${nextLane('$afterLane', files)}
    union all
    select ${nextLane('l.lane', files)} from later_lanes l where l.lane is not null
  ), earlier_lanes (lane) as (
    select ${nextLane(`''`, files)}
    union all
    select ${nextLane('l.lane', files)} from earlier_lanes l where l.lane is not null and l.lane < $afterLane
  ), ready as materialized (
    select lane, turn from (
      select lane, 0 as turn from later_lanes where lane is not null
      union all
      select lane, 1 from earlier_lanes where lane is not null and lane <= $afterLane
    ) l
    where ${firstDue(`${free(files)} and q.lane = l.lane and ${IS_DUE}`)} is not null
    limit $limit::int
  ), share as materialized (
    select ceil($limit::int::numeric / greatest(count(*), 1))::int as size from ready
  ), locked as materialized (
    select l.lane, l.turn, q.email_id, row_number() over (partition by l.lane order by q.due_at, q.email_id) as rank
    from ready l cross join lateral (
      select q.email_id, q.due_at from send_queue q
      where ${free(files)} and q.lane = l.lane and ${IS_DUE}
      order by q.due_at, q.email_id
      limit (select size from share)
      for update skip locked
    ) q
  ), chosen as materialized (
    select * from locked order by rank, turn, lane limit $limit::int
  ), taken as (
    update send_queue q
    set owner = $owner, claim_id = gen_random_uuid(), attempts = q.attempts + 1, claimed_at = now(),
      lease_until = ${fromNow('$leaseMs')}
    from chosen c
    -- The array is for the planner, which may read a long queue for each claim else.
    where q.email_id = any (array(select email_id from chosen)) and q.email_id = c.email_id
    returning q.email_id, q.claim_id, q.attempts as attempt, c.lane, c.turn, c.rank
  )
  select t.email_id, t.claim_id, t.attempt, t.lane, e.from_address ->> 'address' as mail_from, e.message_id, e.raw,
    e.raw_path, e.raw_size_bytes, coalesce(open.addresses, '{}') as rcpt_to, coalesce(open.suppressed, '{}') as suppressed
  -- The array, again, is for the planner.
  from taken t join emails e on e.id = any (array(select email_id from chosen)) and e.id = t.email_id
  cross join lateral (
    select array_agg(d.address order by d.ordinal) filter (where not d.is_suppressed) as addresses,
      array_agg(d.address order by d.ordinal) filter (where d.is_suppressed) as suppressed
    from (
      select d.address, d.ordinal, exists (
        select from suppressions s where s.address = lower(d.address collate "C") and s.lifted_at is null
      ) or ${hasLeftList('$accountId', 'e.unsubscribe_list', 'lower(d.address collate "C")')} as is_suppressed
      from email_deliveries d where d.email_id = t.email_id and d.state in ('pending', 'deferred')
    ) d
  ) open
  order by t.rank, t.turn, t.lane`,
).narrow<{ claim_id: string; mail_from: string; rcpt_to: string[]; suppressed: string[] }>();
