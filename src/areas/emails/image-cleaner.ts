/** The loop that deletes remote images whose day is over. */
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

const INTERVAL_MS = 3_600_000;

export const startImageCleaner = (clean: () => Promise<void>, logger: Logger): Loop =>
  startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'remote images whose day is over could not be deleted; the next try is in an hour',
    logger,
    run: clean,
  });
