/**
 * The loop that follows the accounts that other processes created, changed, paused or deleted. The watch for work sees that their number of
 * changes has grown, in its one statement; between that, only a key that comes back is looked for.
 */
import type { AccountDirectory } from '../app/accounts/account-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type WokenLoop } from './loop.ts';

const INTERVAL_MS = 30_000;
const WOKEN_MS = 100;

export function startAccountWatch(accounts: Pick<AccountDirectory, 'refresh'>, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    wokenMs: WOKEN_MS,
    retryMs: WOKEN_MS * 10,
    failure: 'accounts that other processes changed can not be read',
    logger,
    run: () => accounts.refresh(),
  });
}
