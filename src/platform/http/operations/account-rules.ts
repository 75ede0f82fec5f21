/** Account rules that operations with a route written by hand share. */
import type { AccountOf } from '../../access/account-of.ts';
import type { Seen } from '../../operation/seen-accounts.ts';

/** What an operation stands on that finds the account of a thing. */
export interface FindsAccounts {
  readonly accountOf: AccountOf;
}

interface Named {
  readonly id: string;
}

/** The account of the email that the input names. */
export const OF_EMAIL = {
  of: ({ id }: Named, { accountOf }: FindsAccounts) => accountOf.email(id),
  missing: 'email_not_found',
} as const;

/** The account of the thread that the input names. */
export const OF_THREAD = {
  of: ({ threadId }: { readonly threadId: string }, { accountOf }: FindsAccounts) =>
    accountOf.thread(threadId),
  missing: 'thread_not_found',
} as const;

interface OfAccount {
  readonly accountId: string | null;
}

/** For something that belongs to one account: a limited caller that names none means the default one, or its only one. */
export const chooseAccount = async <Input extends OfAccount>(input: Input, seen: Seen): Promise<Input> =>
  seen.accounts === null ? input : { ...input, accountId: await seen.chosen(input.accountId) };
