/** The rights of a caller. No right includes another, except `admin`, which includes all. */

/**
 * Every right, from the least to the most:
 * - `read`: see emails, threads, customers, events and lists; changes nothing.
 * - `draft`: prepare emails that another caller sends; sends nothing.
 * - `send`: send, take a send back, try it again.
 * - `receive`: hand in mail that was received elsewhere.
 * - `operate`: decide about threads, customers, suppressed addresses, unsettled sends and messages set aside.
 * - `admin`: everything, including keys and the endpoints of webhooks.
 */
export const RIGHTS = ['read', 'draft', 'send', 'receive', 'operate', 'admin'] as const;

export type Right = (typeof RIGHTS)[number];

/** True when `rights` include `right`. */
export function allows(rights: readonly Right[], right: Right): boolean {
  return rights.includes(right) || rights.includes('admin');
}
