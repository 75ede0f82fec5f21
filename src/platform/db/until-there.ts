/** How a start waits for a database that is unavailable: each of its steps is repeated, not only the first contact. */
import { setTimeout as wait } from 'node:timers/promises';
import { createFailureLog } from '../base/failure-log.ts';
import type { Logger } from '../base/basics.ts';
import { ServiceError } from '../../core/errors.ts';
import { isAway } from './pool.ts';

/** How long a database may be unavailable at the start, in ms: machines that start together come up in any order. */
const PATIENCE_MS = 60_000;
/**
 * A process that gets little of the machine finds its own time limits passed before it reads the answer that came in time. So a step has
 * this many attempts at least, however long they take.
 */
const LEAST_ATTEMPTS = 20;
const PAUSE_MS = 1000;

/**
 * Repeats a step of the start while the database is unavailable. Throws what the last attempt threw, any other error at once, and the
 * signal's reason.
 *
 * @param step gets the number of the attempt, from 1
 */
export async function untilThere<T>(
  step: (attempt: number) => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  const failures = createFailureLog(logger, 'the database is not there yet; waiting for it');
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await step(attempt);
    } catch (err) {
      signal?.throwIfAborted();
      if (!isAway(err) || (attempt >= LEAST_ATTEMPTS && performance.now() > deadline)) throw err;
      failures.failed(
        err instanceof ServiceError ? err : new ServiceError('database_unavailable', { cause: err }),
      );
    }
    // The reason is thrown at the top.
    await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
