/** Sends in the name of their caller, and within its accounts. */
import { createHash } from 'node:crypto';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { Seen } from '../../platform/operation/seen-accounts.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { SendRequest } from './use-cases.ts';

export const askedBy = (caller: Caller): Pick<SendRequest, 'authorKeyId' | 'authorName' | 'isByPerson'> => ({
  authorKeyId: keyIdOf(caller),
  authorName: keyNameOf(caller),
  isByPerson: caller.isPerson === true,
});

/** Empty for a secret, behind which there may be anyone. */
export const keyNameOf = ({ author }: Pick<Caller, 'author'>): string =>
  author.kind === 'key' ? author.name : '';

/** The thread decides the account of a send that names none, else From. */
export async function ownSend(
  request: SendRequest,
  seen: Seen,
  { accountOf }: { readonly accountOf: Pick<AccountOf, 'thread'> },
): Promise<SendRequest> {
  const { threadId, accountId, from = null } = request;
  if (from !== null && threadId === null && accountId === null)
    return { ...request, accountId: seen.sender(from) };
  if (seen.accounts === null) return request;
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
