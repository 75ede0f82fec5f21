/**
 * Mails the operators about an account whose mailboxes can't be read: once for each failure, until it works again, whatever the number of
 * processes. The key of the send names the failure, so that a process that ends before it notes the mail sends no second one.
 */
import type { AccountFailure } from '../../core/mailbox/retry.ts';
import { toStorable } from '../../core/storable-text.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';
import type { FailingAccount, FailingAccounts } from './failing-accounts.ts';

/** Failures that have to last first are found by this; others wake the loop. */
const INTERVAL_MS = 60_000;
const WOKEN_MS = 100;
const MAX_REASON_CHARS = 500;

export interface Notice {
  readonly accountId: string;
  readonly subject: string;
  readonly text: string;
}

export interface NotifyOperatorsPorts {
  readonly failing: FailingAccounts;
  /** The accounts that are in use now, and whether they deliver mail. */
  readonly accounts: () => readonly { readonly id: string; readonly isDelivering: boolean }[];
  /** Puts a mail to the operators into the queue; a repeat with the same key, whatever its notice, does nothing. */
  readonly send: (key: string, notice: Notice) => Promise<void>;
  readonly logger: Logger;
}

/** One that can't be reported keeps no other one from it. Throws the first reason at the end. */
export async function notifyOperators(ports: NotifyOperatorsPorts, signal: AbortSignal): Promise<void> {
  const accounts = ports.accounts();
  const all = await ports.failing.list(accounts.map(({ id }) => id));
  const failing = new Map(all.map((account) => [account.accountId, account]));
  const working = accounts.find(({ id, isDelivering }) => isDelivering && !failing.has(id));
  const failures: unknown[] = [];
  for (const account of all) {
    if (signal.aborted) return;
    if (!account.isToBeNotified) continue;
    try {
      await notify(ports, account, working?.id ?? null, accounts);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** @param working an account that delivers mail; null: there is none */
async function notify(
  ports: NotifyOperatorsPorts,
  account: FailingAccount,
  working: string | null,
  accounts: ReturnType<NotifyOperatorsPorts['accounts']>,
): Promise<void> {
  const { accountId, kind, since } = account;
  const isDelivering = accounts.some((one) => one.id === accountId && one.isDelivering);
  // What refuses the log-in of the mailboxes mostly refuses that of sends too: its own mail would only arrive when all is well again.
  const sender = working ?? (isDelivering && kind !== 'credentials' ? accountId : null);
  if (sender === null) throw new Error(`account ${accountId} fails, and no other account delivers mail`);
  // No caller of the API can use it: callers' keys have no spaces.
  await ports.send(`account-failing ${accountId} ${since.toISOString()}`, toNotice(account, sender));
  await ports.failing.setNotified(accountId, since);
  ports.logger.info({ accountId, by: sender }, 'the operators get a mail about an account that fails');
}

const ADVICE: Readonly<Record<AccountFailure, string>> = {
  credentials:
    'Correct the user and the password of the account; an account with OAuth2 needs a new consent. Until then no mail of it is recorded.',
  connection:
    'The service goes on trying. Check the mail server, and its address in the settings of the account.',
  refused: 'The service goes on trying. The mail server answers, and refuses to show the mailbox.',
  service:
    'The service goes on trying. Its own database or storage may be at fault: its log has more, and email-worker doctor examines it.',
};

function toNotice({ accountId, kind, reason, since }: FailingAccount, by: string): Notice {
  return {
    accountId: by,
    subject: `Account ${accountId}: its mailbox can't be read`,
    text: [
      `The mailbox of the account ${accountId} can't be read since ${since.toISOString()}.`,
      `Reason: ${toStorable(reason.slice(0, MAX_REASON_CHARS))}`,
      ADVICE[kind],
      'Nothing is lost: mail that stays in the mailbox is recorded once it can be read. You get no other mail about this failure.',
    ].join('\n\n'),
  };
}

export function startNotifier(ports: NotifyOperatorsPorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    wokenMs: WOKEN_MS,
    failure: 'the operators could not be mailed about an account that fails; it is tried again',
    logger: ports.logger,
    run: (signal) => notifyOperators(ports, signal),
  });
}
