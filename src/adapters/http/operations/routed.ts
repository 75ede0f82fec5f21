/** Declares the operations whose routes are written by hand. */
import type { OperationDeps } from '../../../app/operations.ts';
import { routedWith } from '../../../platform/operation/declaration.ts';
import type { Seen } from '../../../platform/operation/seen-accounts.ts';

export const routed = routedWith<OperationDeps>();

interface Named {
  readonly id: string;
}

/** The account of the email that the input names. */
export const OF_EMAIL = {
  of: ({ id }: Named, { accountOf }: Pick<OperationDeps, 'accountOf'>) => accountOf.email(id),
  missing: 'email_not_found',
} as const;

/** The account of the thread that the input names. */
export const OF_THREAD = {
  of: ({ threadId }: { readonly threadId: string }, { accountOf }: Pick<OperationDeps, 'accountOf'>) =>
    accountOf.thread(threadId),
  missing: 'thread_not_found',
} as const;

interface OfAccount {
  readonly accountId: string | null;
}

/** For something that belongs to one account: a limited caller that names none means the default one, or its only one. */
export const chooseAccount = async <Input extends OfAccount>(input: Input, seen: Seen): Promise<Input> =>
  seen.accounts === null ? input : { ...input, accountId: await seen.chosen(input.accountId) };
