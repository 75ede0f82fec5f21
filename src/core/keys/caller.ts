/** Whose request it is: who they are, and what they may do. */
import type { Author } from './author.ts';
import { allows, type Right } from './rights.ts';

export interface Caller {
  readonly author: Author;
  readonly rights: readonly Right[];
  /** They see these and act for these; null: all, also those that are configured later. */
  readonly accounts: readonly string[] | null;
  /** null: never. */
  readonly expiresAt: Date | null;
}

/** A caller with everything, as one that shows `API_SECRET`. */
export const withEverything = (author: Author): Caller => ({
  author,
  rights: ['admin'],
  accounts: null,
  expiresAt: null,
});

/**
 * True when `caller` may do all that `other` may, for all of its accounts and as long: then it gains nothing from a key that
 * lets it act as `other`.
 */
export function coversAll(caller: Omit<Caller, 'author'>, other: Omit<Caller, 'author'>): boolean {
  return (
    other.rights.every((right) => allows(caller.rights, right)) &&
    seesAccounts(caller, other.accounts) &&
    (caller.expiresAt === null || (other.expiresAt !== null && other.expiresAt <= caller.expiresAt))
  );
}

/** True when all of these accounts are the caller's; null: all there are. */
export function seesAccounts(caller: Pick<Caller, 'accounts'>, accounts: readonly string[] | null): boolean {
  if (caller.accounts === null) return true;
  return accounts !== null && accounts.every((account) => caller.accounts?.includes(account) === true);
}
