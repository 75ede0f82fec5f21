/**
 * The counters of the accounts' rate limits: one row per account and period, locked while it is read and added to, so that all processes
 * together stay within the limits.
 */
import {
  ENTRIES_PER_PERIOD,
  PERIOD_MS,
  RATE_PERIODS,
  roomIn,
  type RateEntry,
  type RateLimit,
  type RatePeriod,
  type Room,
} from '../../core/delivery/rate-window.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

export function isLimited(rate: RateLimit): boolean {
  return rate.perMinute !== null || rate.perDay !== null;
}

/** Locks the account's counters until the transaction ends and returns the room that they leave. */
export async function lockRoom(executor: Executor, accountId: string, rate: RateLimit): Promise<Room> {
  let room: Room = { messages: Infinity, waitMs: 0 };
  // Always in the same order, so that two processes never wait for each other in a circle.
  for (const period of RATE_PERIODS) {
    const limit = limitOf(rate, period);
    if (limit === null) continue;
    await run(executor, LOCK_WINDOW, { accountId, period });
    const entries: readonly RateEntry[] = (
      await run(executor, READ_WINDOW, { accountId, period, periodMs: PERIOD_MS[period] })
    ).map((row) => ({ ageMs: row.age_ms, messages: row.messages }));
    const { messages, waitMs } = roomIn(entries, limit, period);
    room = { messages: Math.min(room.messages, messages), waitMs: Math.max(room.waitMs, waitMs) };
  }
  return room;
}

/** Counts messages; call it after `lockRoom` in the same transaction. */
export async function useRoom(
  executor: Executor,
  accountId: string,
  rate: RateLimit,
  messages: number,
): Promise<void> {
  if (messages === 0) return;
  for (const period of RATE_PERIODS) {
    if (limitOf(rate, period) === null) continue;
    const periodMs = PERIOD_MS[period];
    await run(executor, USE_WINDOW, {
      accountId,
      period,
      periodMs,
      entryMs: periodMs / ENTRIES_PER_PERIOD,
      messages,
    });
  }
}

function limitOf(rate: RateLimit, period: RatePeriod): number | null {
  return period === 'minute' ? rate.perMinute : rate.perDay;
}

/** Opens the window if need be. */
const LOCK_WINDOW = statement(
  'lock-send-window',
  `insert into send_windows as w (account_id, period, used_at, used) values ($accountId, $period, '{}', '{}')
  on conflict (account_id, period) do update set period = w.period`,
);

/** An entry far in the future is from a clock that was set back since; it must not stop the account until then. */
const IN_PERIOD = `u.at > clock_timestamp() - $periodMs::float8 * interval '1 millisecond'
    and u.at < clock_timestamp() + $periodMs::float8 * interval '1 millisecond'`;

/** By the moment of the statement: that of the transaction may be before the one that had the lock until now. */
const READ_WINDOW = statement(
  'read-send-window',
  `select (extract(epoch from clock_timestamp() - u.at) * 1000)::float8 as age_ms, u.messages
  from send_windows w cross join lateral unnest(w.used_at, w.used) as u(at, messages)
  where w.account_id = $accountId and w.period = $period
    and ${IN_PERIOD}`,
).narrow<{ age_ms: number; messages: number }>();

/** Adds the messages and drops what has left the period. */
const USE_WINDOW = statement(
  'use-send-window',
  `update send_windows w set (used_at, used) = (
    select array_agg(e.at order by e.at), array_agg(e.messages order by e.at) from (
      select max(u.at) as at, sum(u.messages)::int as messages from (
        select * from unnest(w.used_at, w.used) as u(at, messages)
        where ${IN_PERIOD}
        union all
        select clock_timestamp(), $messages::int
      ) u
      group by floor(extract(epoch from u.at) * 1000 / $entryMs::float8)
    ) e
  )
  where w.account_id = $accountId and w.period = $period`,
);
