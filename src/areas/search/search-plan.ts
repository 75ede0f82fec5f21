/**
 * Decides how to read a page of search results. A GIN index gives all matches without an order, so a common word would read a large part of
 * the mailbox for one page. Hence two ways to the same result:
 *
 * - `walk`: go through the list in its order and check each entry, until the page is full. Good when many match.
 * - `look up`: take all matches from the index, then the newest of these. Good when few match.
 *
 * The walk is bounded: when it ends before the page is full, the other way is taken. Figures: docs/benchmarks.md.
 */

/** The cost of checking an email on a walk, relative to a match that is looked up. Measured in pages read. */
export const WALK_COST = { emails: 3, threads: 1 } as const;

/** The least and most entries of a walk: the least cost some milliseconds, the most half a second. */
export const MIN_STEPS = 500;
const MAX_STEPS = 20_000;

/** A walk may take this many times its expected steps before it is given up. */
const PATIENCE = 4;

/** Matches that are always looked up: a few milliseconds. */
const FEW_MATCHES = 500;

export interface SearchSituation {
  /** Number of all searchable emails, not only those in the list. */
  readonly emails: number;
  /** The share of them that matches, 0 to 1. */
  readonly share: number;
  /** Entries of a page. */
  readonly limit: number;
  /** One of WALK_COST. */
  readonly walkCost: number;
}

export type SearchPlan = { readonly kind: 'look up' } | { readonly kind: 'walk'; readonly steps: number };

export function planSearch(situation: SearchSituation): SearchPlan {
  const { emails, share, limit, walkCost } = situation;
  const matches = emails * share;
  const expected = limit / Math.max(share, 1e-9);
  /** A walk of this many steps takes as long as looking up. */
  const even = matches / walkCost;
  if (matches <= FEW_MATCHES || expected > even) return { kind: 'look up' };
  const steps = Math.max(MIN_STEPS, Math.min(PATIENCE * expected, even, MAX_STEPS));
  return { kind: 'walk', steps: Math.round(steps) };
}
