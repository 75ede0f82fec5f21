/** The accounts that a list covers. */

export interface AccountFilter {
  /** null: all accounts that the caller sees. */
  readonly accountId: string | null;
  /** The accounts that the caller sees; absent or null: all. */
  readonly within?: readonly string[] | null;
}

/** The accounts for the statement of a list; null: all. */
export function accountIdsOf({ accountId, within }: AccountFilter): string[] | null {
  if (accountId !== null) return [accountId];
  return within === undefined || within === null ? null : [...within];
}

/** Statements that list one account walk its index in order; those for several accounts can't. */
export function howMany(accountIds: readonly string[] | null): 'one' | 'some' | null {
  if (accountIds === null) return null;
  return accountIds.length === 1 ? 'one' : 'some';
}
