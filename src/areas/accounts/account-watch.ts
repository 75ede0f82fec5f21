/**
 * The loop that follows the accounts that other processes created, changed, paused or deleted. The watch for work sees in its one statement
 * that their number of changes has grown. In between, a look now and then finds a key that came back; and where the watch looks too
 * rarely, the looks of this loop keep the time.
 */
import { FOLLOWED_WITHIN_MS, type AccountDirectory } from './account-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

const IDLE_MS = 30_000;
const WOKEN_MS = 100;

/** @param workPollMs the most that passes between two looks of the watch, in ms */
export function startAccountWatch(
  accounts: Pick<AccountDirectory, 'refresh'>,
  workPollMs: number,
  logger: Logger,
  timers: Timers = systemTimers,
): WokenLoop {
  return startLoop({
    intervalMs: workPollMs > FOLLOWED_WITHIN_MS ? FOLLOWED_WITHIN_MS : IDLE_MS,
    wokenMs: WOKEN_MS,
    retryMs: WOKEN_MS * 10,
    failure: 'accounts that other processes changed can not be read',
    logger,
    timers,
    run: () => accounts.refresh(),
  });
}
