/** The loop that deletes threads that are no longer kept. */
import { deleteQuietThreads, type RetentionPorts } from '../app/erase/retain.ts';
import { startLoop, type Loop } from './loop.ts';

/** A rule counts days. */
const INTERVAL_MS = 3_600_000;
const RETRY_MS = 10_000;

export function startRetention(ports: RetentionPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    failure: 'threads that are kept no longer could not be deleted; it is tried again',
    logger: ports.logger,
    run: (signal) => deleteQuietThreads(ports, signal),
  });
}
