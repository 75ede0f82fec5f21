/** Keeps a copy of database rows fresh while it is used, and asks nothing while it is not. */
import type { FailureLog } from '../../platform/base/failure-log.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';

/** From this age of the copy on, in ms, a use has it refreshed, without waiting for that. */
const FRESH_MS = 500;
/** From this age of the copy on, in ms, a use waits for the refresh. */
const MAX_AGE_MS = 1000;
/** How long a use waits for the refresh at most, in ms: a database that does not answer delays no send. */
const PATIENCE_MS = 250;

export interface FreshCopy {
  /** A reading is under way. */
  readonly isReading: boolean;
  /** Joins the reading under way, or begins one. Rejects as the reading does. */
  read(): Promise<void>;
  /** The wait that a use of the copy needs; null: none. Never rejects. */
  freshen(): Promise<void> | null;
}

/** @param readNewer brings the copy up to everything that was changed before the call */
export function createFreshCopy(
  readNewer: () => Promise<void>,
  failures: FailureLog,
  timers: Timers = systemTimers,
): FreshCopy {
  let running: Promise<void> | null = null;
  /** When the last reading began, by `Timers.now`, and when the last one that succeeded did. */
  let triedAt = -Infinity;
  let freshAt = -Infinity;
  let isAnswering = true;

  async function readOnce(): Promise<void> {
    const begunAt = timers.now();
    triedAt = begunAt;
    try {
      await readNewer();
      freshAt = begunAt;
      isAnswering = true;
      failures.worked();
    } catch (error) {
      isAnswering = false;
      throw error;
    } finally {
      running = null;
    }
  }

  const read = () => (running ??= readOnce());

  return {
    get isReading() {
      return running !== null;
    },
    read,
    freshen() {
      const now = timers.now();
      if (now - triedAt >= FRESH_MS && running === null) read().catch(failures.failed);
      // While the database does not answer, it is tried now and then, but a use waits only for the first of these tries.
      const mustWait = now - freshAt >= MAX_AGE_MS && isAnswering;
      if (running === null || !mustWait) return null;
      const reading = running;
      return new Promise((resolve) => {
        const cancel = timers.after(PATIENCE_MS, () => {
          isAnswering = false;
          resolve();
        });
        const end = () => {
          cancel();
          resolve();
        };
        reading.then(end, end);
      });
    },
  };
}
