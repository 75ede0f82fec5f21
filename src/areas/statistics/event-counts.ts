/**
 * `StatisticsReader` on PostgreSQL. The counts, and how long emails took, are written when events are numbered:
 * db/migrations/0001_schema/event-counts.ts.
 */
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import type { LatencyBucket } from '../../core/statistics/latency.ts';
import { invalidRequest } from '../../core/errors.ts';
import { isUnknownTimeZone } from '../../platform/db/pool.ts';
import { columnsOf, jsonObject, jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import type { AggregateCount, AggregateReport } from '../../core/delivery/aggregate-report.ts';

/** The maximum number of steps: as many as a plot shows; 1,000 hours are 41 days, 1,000 days are more than is kept. */
export const MAX_POINTS = 1000;

/** Counts of reports, the largest first: as many as a person looks through. */
export const MAX_REPORT_COUNTS = 1000;

export type Step = 'hour' | 'day';

export interface StatisticsQuery extends AccountFilter {
  /** Inclusive. The whole step that contains it counts. */
  readonly since: Date;
  /** Exclusive, later than `since`. The whole step that ends at it, or contains it, counts. */
  readonly until: Date;
  readonly step: Step;
  /** The time zone of days, such as `Europe/Berlin`. Hours are those of UTC. */
  readonly timeZone: string;
}

/** Mail that was imported, or found at the first reading of a mailbox, is not counted. */
export interface CountedStep {
  /** The beginning of the step. */
  readonly at: Date;
  readonly received: number;
  /** By the service, and by other programs as far as their copies were found. */
  readonly sent: number;
  readonly failed: number;
  /** Sends whose outcome was not known at first. */
  readonly unknown: number;
  /** Recipients, not emails. */
  readonly bounced: number;
  /** Recipients, not emails. */
  readonly complained: number;
  /** From the time when it was accepted, or was to go out, until its mail server had it. */
  readonly sendTimes: readonly LatencyBucket[];
  /** From its arrival here, or in its mailbox, until it was recorded. */
  readonly receiveTimes: readonly LatencyBucket[];
}

/** From the reports of other mail servers. */
export interface ReportCount extends AggregateCount {
  readonly kind: AggregateReport['kind'];
}

export interface CountedTime {
  /** Each step from first to last, also those without mail. */
  readonly steps: readonly CountedStep[];
  /** The counts in reports with a Date in that time, at most MAX_REPORT_COUNTS. A report that came twice counts once. */
  readonly reports: readonly ReportCount[];
}

export interface StatisticsReader {
  /**
   * In one round trip. Throws `invalid_request` for a time zone unknown to the database, and `database_unavailable`.
   */
  read(query: StatisticsQuery): Promise<CountedTime>;
}

export function createStatisticsReader(pool: Executor): StatisticsReader {
  return {
    async read(query) {
      const { since, until, step, timeZone } = query;
      try {
        const rows = await run(pool, READ, {
          since,
          until,
          step,
          // A row is an hour of UTC: a zone with half-hour offsets has no hours of its own in the table.
          timeZone: step === 'hour' ? 'UTC' : timeZone,
          accountIds: accountIdsOf(query),
          limit: MAX_REPORT_COUNTS,
        });
        return {
          steps: rows.filter(isStep).map(({ times, reports: _reports, ...counts }) => ({
            ...counts,
            sendTimes: bucketsOf(times, 'email.sent'),
            receiveTimes: bucketsOf(times, 'email.received'),
          })),
          reports: rows[0]?.reports ?? [],
        };
      } catch (error) {
        // Node.js and PostgreSQL each have their own list of zones.
        if (isUnknownTimeZone(error)) throw invalidRequest('malformed', { field: 'time_zone' }, error);
        throw error;
      }
    },
  };
}

/** A day that a zone left out, as Samoa did at the end of 2011, begins when the next one does, and is empty. */
const isStep = (
  { at }: { readonly at: Date },
  index: number,
  rows: readonly { readonly at: Date }[],
): boolean => at.getTime() !== rows[index + 1]?.at.getTime();

const bucketsOf = (times: readonly JsonOf<typeof TIME>[] | null, kind: string): readonly LatencyBucket[] =>
  (times ?? [])
    .filter((bucket) => bucket.kind === kind)
    .map((bucket) => ({ belowMs: bucket.below_ms, emails: bucket.emails, totalMs: bucket.total_ms }));

/** Steps are made in local time, in which each day is one step, however long it lasts. */
const COUNTED = `with span as (
    select date_trunc($step::text, $since::timestamptz at time zone $timeZone::text) as first,
      date_trunc($step, ($until::timestamptz - interval '1 microsecond') at time zone $timeZone) as last,
      ('1 ' || $step)::interval as step
  ), counted as (
    select date_trunc($step, c.hour at time zone $timeZone) as at, sum(c.received) as received, sum(c.sent) as sent,
      sum(c.failed) as failed, sum(c.unknown) as unknown, sum(c.bounced) as bounced, sum(c.complained) as complained
    from span s, event_counts c
    where c.hour >= s.first at time zone $timeZone and c.hour < (s.last + s.step) at time zone $timeZone
      and ($accountIds::text[] is null or c.account_id = any ($accountIds))
    group by 1
  ), timed as (
    select date_trunc($step, c.hour at time zone $timeZone) as at, c.kind, c.below_ms, sum(c.emails) as emails,
      sum(c.total_ms) as total_ms
    from span s, latency_counts c
    where c.hour >= s.first at time zone $timeZone and c.hour < (s.last + s.step) at time zone $timeZone
      and ($accountIds::text[] is null or c.account_id = any ($accountIds))
    group by 1, 2, 3
  )`;

const TIME = jsonObject('latency-json', {
  with: COUNTED,
  from: 'timed t',
  columns: columnsOf('t', 'kind', 'below_ms', 'emails', 'total_ms'),
}).narrow<{ emails: number; total_ms: number }>();

/** A report that came twice counts once. */
const REPORTS = jsonRows(
  'report-count-json',
  `with reports as (
    select distinct on (aggregate_report ->> 'reporter', coalesce(aggregate_report ->> 'id', id::text)) aggregate_report as report
    from emails
    where aggregate_report is not null and date >= $since::timestamptz and date < $until::timestamptz
      and ($accountIds::text[] is null or account_id = any ($accountIds))
    order by aggregate_report ->> 'reporter', coalesce(aggregate_report ->> 'id', id::text), id
  )
  select r.report ->> 'kind' as kind, c.domain, c.source, c.result, sum(c.messages)::float8 as messages
  from reports r
  cross join lateral jsonb_to_recordset(r.report -> 'counts') c (domain text, source text, result text, messages bigint)
  group by 1, 2, 3, 4 order by messages desc, 1, 2, 3, 4 limit $limit::int`,
).narrow<{
  kind: ReportCount['kind'];
  domain: string;
  source: string | null;
  result: string;
  messages: number;
}>();

const READ = statement(
  'read-statistics',
  `${COUNTED}, told as (
    select t.at, json_agg(${TIME.object}) as times from timed t group by t.at
  )
  select p.at at time zone $timeZone as at, coalesce(c.received, 0)::float8 as received, coalesce(c.sent, 0)::float8 as sent,
    coalesce(c.failed, 0)::float8 as failed, coalesce(c.unknown, 0)::float8 as unknown,
    coalesce(c.bounced, 0)::float8 as bounced, coalesce(c.complained, 0)::float8 as complained, t.times,
    -- Beside the first step
    case when p.at = s.first then ${REPORTS.array} end as reports
  from span s cross join generate_series(s.first, s.last, s.step) as p (at) left join counted c on c.at = p.at left join told t on t.at = p.at
  order by p.at`,
).narrow<{
  at: Date;
  received: number;
  sent: number;
  failed: number;
  unknown: number;
  bounced: number;
  complained: number;
  times: JsonOf<typeof TIME>[] | null;
  reports: JsonOf<typeof REPORTS>[] | null;
}>();
