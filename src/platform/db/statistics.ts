/**
 * Keeps plans in step with tables that grow faster than autovacuum looks: under the first load of a new service, or in an import. A process
 * that writes asks PostgreSQL now and then; an idle one asks nothing. See migrations/0001_schema/statistics.ts.
 */
import type { Pool } from 'pg';
import type { Logger } from '../base/basics.ts';
import { createFailureLog } from '../base/failure-log.ts';
import { systemTimers, type Timers } from '../base/timers.ts';
import { run, statement } from './statement.ts';

/** Least uses of connections between two looks: one of them may have written a hundred emails. */
const USES = 8;
/** They all have to come within this time, in ms: the loops of a service without work use one connection per second. */
const WITHIN_MS = 4000;
/** Shortest pause between two looks, in ms: a look takes the server 0.3 ms. */
const PAUSE_MS = 250;

export interface StatisticsKeeper {
  /** Waits for the statements under way. */
  stop(): Promise<void>;
}

/** Watches the uses of `pool`. Stop it before the pool is ended. */
export function keepStatistics(pool: Pool, logger: Logger, timers: Timers = systemTimers): StatisticsKeeper {
  const failures = createFailureLog(logger, 'tables that have grown could not be analyzed');
  let uses = 0;
  let firstAt = -Infinity;
  let isStopped = false;
  let cancel: (() => void) | null = null;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    try {
      await run(pool, ANALYZE_GROWN);
      failures.worked();
    } catch (error) {
      failures.failed(error);
    }
    looking = null;
  }

  const onUse = () => {
    const now = timers.now();
    if (now - firstAt > WITHIN_MS) {
      firstAt = now;
      uses = 0;
    }
    uses += 1;
    if (uses < USES || isStopped || cancel !== null || looking !== null) return;
    cancel = timers.after(PAUSE_MS, () => {
      cancel = null;
      uses = 0;
      looking = look();
    });
  };
  pool.on('release', onUse);

  return {
    async stop() {
      isStopped = true;
      pool.off('release', onUse);
      cancel?.();
      await looking;
    },
  };
}

const ANALYZE_GROWN = statement('analyze-grown', 'select analyze_grown() as analyzed');
