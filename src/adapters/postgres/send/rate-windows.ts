/**
 * The counters of the accounts' rate limits: one row per account and period, locked while it is read and added to, so that all processes
 * together stay within the limits.
 */
import {
  PERIOD_MS,
  RATE_PERIODS,
  roomIn,
  type RateLimit,
  type RatePeriod,
  type Room,
} from '../../../core/delivery/rate-window.ts';
import { run, statement, type Executor } from '../db/statement.ts';

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
    const [row] = await run(executor, LOCK_WINDOW, { accountId, period, periodMs: PERIOD_MS[period] });
    if (row === undefined) throw new Error('a rate window could not be opened');
    const window = {
      count: row.count,
      previousCount: row.previous_count,
      elapsedMs: row.elapsed_ms,
    };
    const { messages, waitMs } = roomIn(window, limit, period);
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
  const periods = RATE_PERIODS.filter((period) => limitOf(rate, period) !== null);
  await run(executor, USE_WINDOW, { accountId, periods, messages });
}

const USE_WINDOW = statement(
  'use-send-window',
  `update send_windows set count = count + $messages
  where account_id = $accountId and period = any ($periods::text[])`,
);

function limitOf(rate: RateLimit, period: RatePeriod): number | null {
  return period === 'minute' ? rate.perMinute : rate.perDay;
}

/**
 * Opens the window or moves it on to the present: a window that ended just now becomes the previous one, an older one
 * is forgotten.
 */
const LOCK_WINDOW = statement(
  'lock-send-window',
  `insert into send_windows as w (account_id, period, starts_at, count, previous_count)
  values ($accountId, $period, now(), 0, 0)
  on conflict (account_id, period) do update set
    starts_at = case
      when now() < w.starts_at + $periodMs::float8 * interval '1 millisecond' then w.starts_at
      when now() < w.starts_at + 2 * $periodMs::float8 * interval '1 millisecond' then w.starts_at + $periodMs::float8 * interval '1 millisecond'
      else now()
    end,
    count = case when now() < w.starts_at + $periodMs::float8 * interval '1 millisecond' then w.count else 0 end,
    previous_count = case
      when now() < w.starts_at + $periodMs::float8 * interval '1 millisecond' then w.previous_count
      when now() < w.starts_at + 2 * $periodMs::float8 * interval '1 millisecond' then w.count
      else 0
    end
  returning count, previous_count, (extract(epoch from now() - starts_at) * 1000)::float8 as elapsed_ms`,
).narrow<{ elapsed_ms: number }>();
