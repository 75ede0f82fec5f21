/** Of which accounts a list is. */

export interface AccountFilter {
  /** null: of all that the caller sees. */
  readonly accountId: string | null;
  /** What the caller sees; absent: all. Added by limit-to-accounts.ts alone. */
  readonly within?: readonly string[];
}

/** For the statement of a list; null: of all accounts. */
export function accountIdsOf({ accountId, within }: AccountFilter): string[] | null {
  if (accountId !== null) return [accountId];
  return within === undefined ? null : [...within];
}

/** Statements that list one account walk its index in order; those of several can't. */
export function howMany(accountIds: readonly string[] | null): 'one' | 'some' | null {
  if (accountIds === null) return null;
  return accountIds.length === 1 ? 'one' : 'some';
}
