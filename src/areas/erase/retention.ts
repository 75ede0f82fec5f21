/** The loop that deletes threads that are no longer kept. */
import { deleteQuietThreads, type RetentionPorts } from './retain.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** A rule counts days. */
const INTERVAL_MS = 3_600_000;
const RETRY_MS = 10_000;

/** Woken when an operator has confirmed what is held. */
export function startRetention(ports: RetentionPorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    wokenMs: 0,
    retryMs: RETRY_MS,
    failure: 'threads that are kept no longer could not be deleted; it is tried again',
    logger: ports.logger,
    async run(signal) {
      await deleteQuietThreads(ports, signal);
    },
  });
}
