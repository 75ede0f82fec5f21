/** What a caller may be allowed to do. No right includes another, but `admin`, which is all of them. */

/**
 * Every right, from the least to the most:
 * - `read`: see emails, threads, customers, events and lists; changes nothing.
 * - `draft`: prepare what another sends; sends nothing.
 * - `send`: send, take a send back, try it again.
 * - `receive`: hand in mail that was received elsewhere.
 * - `operate`: decide about threads, customers, suppressed addresses, unsettled sends and what was set aside.
 * - `admin`: everything, among it keys and where webhooks post to.
 */
export const RIGHTS = ['read', 'draft', 'send', 'receive', 'operate', 'admin'] as const;

export type Right = (typeof RIGHTS)[number];

/** True when a caller with `rights` may do what needs `right`. */
export function allows(rights: readonly Right[], right: Right): boolean {
  return rights.includes(right) || rights.includes('admin');
}
