/** Sends in the name of their caller, and within its accounts. */
import { createHash } from 'node:crypto';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { Seen } from '../../platform/operation/seen-accounts.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { SendRequest } from './use-cases.ts';

export const askedBy = (caller: Caller): Pick<SendRequest, 'authorKeyId' | 'isByPerson'> => ({
  authorKeyId: keyIdOf(caller),
  isByPerson: caller.isPerson === true,
});

/** The thread decides the account of a send that names none. */
export async function ownSend(
  request: SendRequest,
  seen: Seen,
  { accountOf }: { readonly accountOf: Pick<AccountOf, 'thread'> },
): Promise<SendRequest> {
  if (seen.accounts === null) return request;
  const { threadId, accountId } = request;
  if (threadId !== null) await seen.require(() => accountOf.thread(threadId), 'thread_not_found');
  if (threadId !== null && accountId === null) return request;
  return { ...request, accountId: await seen.chosen(accountId) };
}

/**
 * Callers that see the same accounts share their `Idempotency-Key`s, and no others: a caller can't learn whether another one used a key, and
 * no send of another caller stands in the way. No caller can use the result as a key: callers' keys have no spaces.
 */
export function ownKey(key: string, { accounts }: Pick<Caller, 'accounts'>): string {
  if (accounts === null) return key;
  const names = createHash('sha256')
    .update([...accounts].sort().join(' '))
    .digest('hex');
  return `of ${names.slice(0, 16)} ${key}`;
}
