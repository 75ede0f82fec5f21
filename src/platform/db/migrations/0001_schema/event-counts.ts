/**
 * Counts of emails that came, went and failed in each hour, and of how long they took, for statistics. `number_events` (events.ts) counts
 * the events that it numbers, in the same statement: only one writer numbers at a time, so writers do not compete for a counter, and each
 * event is counted exactly once. No row names a person.
 */
import { BUCKET_BOUNDS_MS, NO_BOUND_MS } from '../../../../core/statistics/latency.ts';

const KINDS = ['received', 'sent', 'failed', 'unknown', 'bounced', 'complained'] as const;

/** How an event counts, or null. A send whose outcome was unknown counts again under its final outcome. */
export const KIND_OF_EVENT = `case
        when is_historical then null
        when type = 'email.settled' then 'email.' || (data::json ->> 'state')
        when type in (${KINDS.map((kind) => `'email.${kind}'`).join(', ')}) then type
      end`;

/** Counts the rows of `numbered`, which have `kind`, `occurred_at` and `account_id`. */
export const COUNT_NUMBERED = `
      insert into event_counts as c (hour, account_id, ${KINDS.join(', ')})
      select date_trunc('hour', occurred_at, 'UTC'), account_id,
        ${KINDS.map((kind) => `count(*) filter (where kind = 'email.${kind}')`).join(',\n        ')}
      from numbered where kind is not null and account_id is not null
      group by 1, 2
      on conflict (hour, account_id) do update
      set ${KINDS.map((kind) => `${kind} = c.${kind} + excluded.${kind}`).join(', ')}`;

const BOUNDS = `array[${BUCKET_BOUNDS_MS.join(', ')}]`;

/** Counts the rows of `timed`, which have `kind`, `occurred_at`, `account_id` and `took_ms`, by how long they took. */
export const COUNT_TIMED = `
      insert into latency_counts as c (hour, account_id, kind, below_ms, emails, total_ms)
      select date_trunc('hour', occurred_at, 'UTC'), account_id, kind,
        coalesce((${BOUNDS})[width_bucket(took_ms, ${BOUNDS}) + 1], ${NO_BOUND_MS}), count(*), sum(took_ms)
      from timed where kind in ('email.sent', 'email.received')
      group by 1, 2, 3, 4
      on conflict (hour, account_id, kind, below_ms) do update
      set emails = c.emails + excluded.emails, total_ms = c.total_ms + excluded.total_ms`;

/** Two years and a month: the same month of the year before last can be compared. */
const FORGOTTEN = `where hour < now() - interval '25 months' and clock_is_certain()`;
export const FORGET_COUNTS = `delete from event_counts ${FORGOTTEN};
    delete from latency_counts ${FORGOTTEN}`;

export const EVENT_COUNTS = [
  // One column per kind: a sixth of the rows that one row per kind would take. The free space is for updates of the current hour.
  `create table event_counts (
    hour timestamptz not null,
    account_id text not null,
    ${KINDS.map((kind) => `${kind} bigint not null default 0`).join(',\n    ')},
    primary key (hour, account_id)
  ) with (fillfactor = 70)`,
  // Only buckets with at least one email
  `create table latency_counts (
    hour timestamptz not null,
    account_id text not null,
    kind text not null,
    -- Of the bucket, in ms; see core/statistics/latency.ts
    below_ms int not null,
    emails bigint not null,
    total_ms bigint not null,
    primary key (hour, account_id, kind, below_ms)
  ) with (fillfactor = 70)`,
];
