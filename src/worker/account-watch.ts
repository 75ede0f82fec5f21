/** The loop that follows the accounts that other processes created, changed, paused or deleted. */
import type { AccountDirectory } from '../app/accounts/account-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

/** A look reads one number, by a statement that any pooler may pass on; every process follows within two seconds. */
const INTERVAL_MS = 1_000;

export function startAccountWatch(accounts: Pick<AccountDirectory, 'refresh'>, logger: Logger): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'accounts that other processes changed can not be read',
    logger,
    run: () => accounts.refresh(),
  });
}
