/** The caller of a request: its author, and its permissions. */
import type { Author } from './author.ts';
import { allows, type Right } from './rights.ts';

export interface Caller {
  readonly author: Author;
  readonly rights: readonly Right[];
  /** The accounts that the caller sees and acts for; null: all, including those configured later. */
  readonly accounts: readonly string[] | null;
  /** null: never. */
  readonly expiresAt: Date | null;
  /** True: a person, in a session of the page. Threads that begin with what such a person sends are open. */
  readonly isPerson?: boolean;
  /** Requests within a minute; absent or null: as many as the configuration allows. */
  readonly rateLimit?: number | null;
}

/** The key of the caller, which what it does names as its author; null: it has none. */
export const keyIdOf = ({ author }: Pick<Caller, 'author'>): string | null =>
  author.kind === 'key' ? author.id : null;

/** A caller with all rights on all accounts, such as one that presents `API_SECRET`. */
export const withEverything = (author: Author): Caller => ({
  author,
  rights: ['admin'],
  accounts: null,
  expiresAt: null,
});

/**
 * True when `caller` may do everything that `other` may, for all of its accounts, at least as long and as often: then `caller` gains
 * nothing from a key that lets it act as `other`.
 */
export function coversAll(caller: Omit<Caller, 'author'>, other: Omit<Caller, 'author'>): boolean {
  return (
    other.rights.every((right) => allows(caller.rights, right)) &&
    seesAccounts(caller, other.accounts) &&
    (caller.expiresAt === null || (other.expiresAt !== null && other.expiresAt <= caller.expiresAt)) &&
    (other.rateLimit ?? Infinity) <= (caller.rateLimit ?? Infinity)
  );
}

/** True when the caller has all of these accounts; null: every account. */
export function seesAccounts(caller: Pick<Caller, 'accounts'>, accounts: readonly string[] | null): boolean {
  if (caller.accounts === null) return true;
  return accounts !== null && accounts.every((account) => caller.accounts?.includes(account) === true);
}
