/** What the edges ask of statistics. */
import { invalidRequest } from '../../core/errors.ts';
import { isTimeZone } from '../../core/reply/quote.ts';
import type { Clock } from '../base/basics.ts';
import {
  MAX_POINTS,
  type StatisticsPoint,
  type StatisticsQuery,
  type StatisticsReader,
} from './statistics-ports.ts';

export interface StatisticsRequest extends Omit<StatisticsQuery, 'since' | 'until'> {
  /** null: `DEFAULT_POINTS` steps before `until`. */
  readonly since: Date | null;
  /** null: now. */
  readonly until: Date | null;
}

export interface StatisticsUseCases {
  /** Throws `invalid_request` for an unknown time zone, no time at all, or more than MAX_POINTS steps. */
  readStatistics(request: StatisticsRequest): Promise<readonly StatisticsPoint[]>;
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** Two days of hours, a month of days. */
const DEFAULT_POINTS = { hour: 48, day: 30 } as const;

export function createStatistics(reader: StatisticsReader, clock: Clock): StatisticsUseCases {
  return {
    async readStatistics(request) {
      const { step, timeZone } = request;
      if (!isTimeZone(timeZone)) throw invalidRequest('malformed', { field: 'time_zone' });
      const until = request.until ?? clock();
      const since = request.since ?? new Date(until.getTime() - DEFAULT_POINTS[step] * STEP_MS[step]);
      const steps = (until.getTime() - since.getTime()) / STEP_MS[step];
      if (steps <= 0) throw invalidRequest('not_after', { field: 'until', other: 'since' });
      if (steps > MAX_POINTS) throw invalidRequest('too_many_steps', { limit: MAX_POINTS });
      return reader.read({ ...request, since, until });
    },
  };
}
