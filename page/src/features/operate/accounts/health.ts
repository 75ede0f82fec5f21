/** How an account is, and what can be done about it. */
import type { Account } from 'email-worker-client';

type Mailbox = Account['mailboxes'][number];

export type Health =
  | 'removed'
  | 'paused'
  | 'noAccess'
  | 'unavailable'
  | 'failing'
  | 'sendOnly'
  | 'waiting'
  | 'reading'
  | 'working';

/** `password`: a new password, or another server. `consent`: a new link. `retry`: connect now. */
export type Repair = 'password' | 'consent' | 'retry';

/** Errors are kept; one is over when a mailbox was read to its end later. */
const isOver = (at: string, successes: readonly (string | null)[]): boolean =>
  successes.some((success) => success !== null && Date.parse(success) > Date.parse(at));

export const mailboxesOf = ({ mailboxes }: Pick<Account, 'mailboxes'>): readonly Mailbox[] =>
  mailboxes.filter(({ left_at: left }) => left === null);

/** The error that keeps the account from being read; null: none. */
export function failureOf(account: Account): Account['last_error'] {
  const { last_error: failure, mailboxes } = account;
  if (failure === null) return null;
  return isOver(
    failure.at,
    mailboxes.map(({ last_success_at: at }) => at),
  )
    ? null
    : failure;
}

/** The same for one mailbox. */
export function mailboxFailureOf({
  last_error: failure,
  last_success_at: success,
}: Mailbox): Mailbox['last_error'] {
  return failure === null || isOver(failure.at, [success]) ? null : failure;
}

export function healthOf(account: Account): Health {
  if (account.state === 'removed') return 'removed';
  if (account.state === 'paused') return 'paused';
  if (account.reconnect) return 'noAccess';
  if (account.state === 'unavailable') return 'unavailable';
  if (failureOf(account) !== null) return 'failing';
  if (!account.has_mailbox) return 'sendOnly';
  const mailboxes = mailboxesOf(account);
  if (mailboxes.length === 0) return 'waiting';
  return mailboxes.some(({ last_success_at: at }) => at === null) ? 'reading' : 'working';
}

/** What helps, the likeliest first. A declared account is changed in the configuration alone. */
export function repairsOf(account: Account): readonly Repair[] {
  const failure = failureOf(account);
  const health = healthOf(account);
  if (health === 'noAccess') return account.declared ? [] : ['consent'];
  if (health !== 'failing' || failure === null) return [];
  const usesPassword = !account.declared && account.settings !== null && account.settings.oauth2 === null;
  return failure.kind === 'credentials' || failure.kind === 'connection'
    ? [...(usesPassword ? (['password'] as const) : []), 'retry']
    : ['retry'];
}

export type LeftOutCounts = Mailbox['counts']['left_out'];
export type LeftOutReason = keyof LeftOutCounts;

/** What the rules left out of all mailboxes, by the reason, without reasons that left out nothing. */
export function leftOutOf({
  mailboxes,
}: Pick<Account, 'mailboxes'>): readonly (readonly [LeftOutReason, number])[] {
  const sums = new Map<LeftOutReason, number>();
  for (const { counts } of mailboxes)
    for (const [reason, count] of Object.entries(counts.left_out) as [LeftOutReason, number][])
      if (count > 0) sums.set(reason, (sums.get(reason) ?? 0) + count);
  return [...sums].sort(([, one], [, other]) => other - one);
}
