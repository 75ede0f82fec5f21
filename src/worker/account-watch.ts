/** The loop that follows the accounts that other processes created, changed, paused or deleted. */
import type { AccountDirectory } from '../app/accounts/account-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

/** Every process follows within two seconds. A look reads one number, by a statement that any pooler passes on. */
const INTERVAL_MS = 1_500;

export function startAccountWatch(accounts: Pick<AccountDirectory, 'refresh'>, logger: Logger): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'accounts that other processes changed can not be read',
    logger,
    run: () => accounts.refresh(),
  });
}
