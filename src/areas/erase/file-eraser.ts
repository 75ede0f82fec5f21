/**
 * The loop that deletes files of deleted emails that were not deleted at once: the process that deleted the emails died, or the storage did not
 * answer it. Every process looks, so that any with the right storage carries it out.
 */
import { deleteDeletedFiles, type DeleteDeletedFilesPorts } from './delete-deleted-files.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

const INTERVAL_MS = 1000;
/** After a fault of the storage or a clock. */
const RETRY_MS = 10_000;

export function startFileEraser(ports: DeleteDeletedFilesPorts, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    waitsForWake: true,
    failure: 'files of deleted emails could not be deleted yet',
    logger,
    run: (signal) => deleteDeletedFiles(ports, signal),
  });
}
