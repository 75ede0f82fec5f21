/** Statistics of received, sent and failed mail: counts of events, step by step. */
import type { AggregateCount, AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { LatencyBucket } from '../../core/statistics/latency.ts';
import type { AccountFilter } from '../base/account-filter.ts';

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
