/** The use cases of statistics that the edges call. */
import { DAY_MS } from '../../core/durations.ts';
import { invalidRequest } from '../../core/errors.ts';
import { toLatency, type Latency } from '../../core/statistics/latency.ts';
import { isTimeZone } from '../../core/reply/quote.ts';
import type { Clock } from '../../platform/base/basics.ts';
import {
  MAX_POINTS,
  type CountedStep,
  type ReportCount,
  type StatisticsQuery,
  type StatisticsReader,
} from './event-counts.ts';

export interface StatisticsRequest extends Omit<StatisticsQuery, 'since' | 'until'> {
  /** null: `DEFAULT_POINTS` steps before `until`. */
  readonly since: Date | null;
  /** null: now. */
  readonly until: Date | null;
}

/** null: no email with a known time. */
interface Latencies {
  readonly sendLatency: Latency | null;
  readonly receiveLatency: Latency | null;
}

export interface StatisticsPoint extends Omit<CountedStep, 'sendTimes' | 'receiveTimes'>, Latencies {}

/** The latencies beside the points cover all points together. */
export interface Statistics extends Latencies {
  readonly points: readonly StatisticsPoint[];
  readonly reports: readonly ReportCount[];
}

export interface StatisticsUseCases {
  /** Throws `invalid_request` for an unknown time zone, no time at all, or more than MAX_POINTS steps. */
  readStatistics(request: StatisticsRequest): Promise<Statistics>;
}

const STEP_MS = { hour: 3_600_000, day: DAY_MS } as const;

/** Two days of hours, a month of days. */
const DEFAULT_POINTS = { hour: 48, day: 30 } as const;

export function createStatistics(reader: StatisticsReader, clock: Clock): StatisticsUseCases {
  return {
    async readStatistics(request) {
      const { step, timeZone } = request;
      if (!isTimeZone(timeZone)) throw invalidRequest('malformed', { field: 'time_zone' });
      const until = request.until ?? clock();
      const since = request.since ?? new Date(until.getTime() - DEFAULT_POINTS[step] * STEP_MS[step]);
      const count = (until.getTime() - since.getTime()) / STEP_MS[step];
      if (count <= 0) throw invalidRequest('not_after', { field: 'until', other: 'since' });
      if (count > MAX_POINTS) throw invalidRequest('too_many_steps', { limit: MAX_POINTS });
      const query = { ...request, since, until };
      const { steps, reports } = await reader.read(query);
      return {
        reports,
        ...latenciesOf(steps),
        points: steps.map((counted) => {
          const { sendTimes: _, receiveTimes: __, ...counts } = counted;
          return { ...counts, ...latenciesOf([counted]) };
        }),
      };
    },
  };
}

const latenciesOf = (steps: readonly CountedStep[]): Latencies => ({
  sendLatency: toLatency(steps.flatMap(({ sendTimes }) => sendTimes)),
  receiveLatency: toLatency(steps.flatMap(({ receiveTimes }) => receiveTimes)),
});
