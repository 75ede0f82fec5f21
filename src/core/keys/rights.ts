/** The rights of a caller. `admin` includes all, `operate` includes `handle`; no other right includes another. */

/**
 * Every right, from the least to the most:
 * - `read`: see emails, threads, customers, events and lists; changes nothing.
 * - `draft`: prepare emails that another caller sends; sends nothing.
 * - `send`: send, take a send back, try it again.
 * - `receive`: hand in mail that was received elsewhere.
 * - `handle`: a clerk's daily acts on a thread: read or unread, done, assignee, labels, customer, what was not delivered.
 * - `operate`: also split and merge threads, delete, decide about customers' addresses, suppressed addresses, unsettled sends and
 *   messages set aside.
 * - `admin`: everything, including keys and the endpoints of webhooks.
 */
export const RIGHTS = ['read', 'draft', 'send', 'receive', 'handle', 'operate', 'admin'] as const;

export type Right = (typeof RIGHTS)[number];

/** The rights that include this one, the right itself among them. */
export const rightsWith = (right: Right): readonly Right[] =>
  right === 'handle' ? ['handle', 'operate', 'admin'] : [right, 'admin'];

/** True when `rights` include `right`. */
export function allows(rights: readonly Right[], right: Right): boolean {
  return rightsWith(right).some((one) => rights.includes(one));
}
