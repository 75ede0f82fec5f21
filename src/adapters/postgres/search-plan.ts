/**
 * How a page of what a query finds is read. A GIN index gives all that match and no order, so a common word would read
 * a large part of the mailbox for one page. Hence two ways to the same result:
 *
 * - `walk`: go through the list in its order and look at each entry, until the page is full. Good when many match.
 * - `look up`: all that match, from the index, then the newest of these. Good when few match.
 *
 * The walk is bounded: when it ends before the page is full, the other way is taken. Figures: docs/benchmarks.md.
 */

/** Time to look at an email on the walk, and to sort in one that the index gave. Measured; only their ratio counts. */
const WALK_COST = 2.5;
const LOOK_UP_COST = 1;

/** Entries of a walk at least and at most: below this it costs nothing, beyond it looking up is never much worse. */
const MIN_STEPS = 500;
const MAX_STEPS = 20_000;

/** A walk may be this much longer than it should be before it is given up. */
const PATIENCE = 4;

/** Matches that are always looked up: a few milliseconds. */
const FEW_MATCHES = 500;

export interface SearchSituation {
  /** Emails that are searched, all of them. */
  readonly emails: number;
  /** The part of them that matches, 0 to 1. */
  readonly share: number;
  /** Entries of a page. */
  readonly limit: number;
  /** The list is that of one customer or company, or another small part of all. */
  readonly isNarrow: boolean;
}

export type SearchPlan = { readonly kind: 'look up' } | { readonly kind: 'walk'; readonly steps: number };

export function planSearch({ emails, share, limit, isNarrow }: SearchSituation): SearchPlan {
  const matches = emails * share;
  const expected = limit / Math.max(share, 1e-9);
  const isCheaper = expected * WALK_COST < matches * LOOK_UP_COST;
  if (matches <= FEW_MATCHES || (!isCheaper && !isNarrow)) return { kind: 'look up' };
  return { kind: 'walk', steps: Math.round(Math.min(MAX_STEPS, Math.max(MIN_STEPS, PATIENCE * expected))) };
}
