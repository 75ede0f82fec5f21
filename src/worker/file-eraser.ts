/** The loop that deletes files of deleted emails that could not be deleted at once. */
import { deleteDeletedFiles, type DeleteDeletedFilesPorts } from '../app/erase/delete-deleted-files.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type WokenLoop } from './loop.ts';

/** Files are left because a process died, or because the storage did not answer. */
const INTERVAL_MS = 60_000;

export function startFileEraser(ports: DeleteDeletedFilesPorts, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'files of deleted emails could not be deleted yet',
    logger,
    run: (signal) => deleteDeletedFiles(ports, signal),
  });
}
