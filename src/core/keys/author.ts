/** The author of an action, as recorded with the action. JSON values only. */

/** The key behind an action, as emails and events show it. */
export interface KeyAuthor {
  readonly id: string;
  readonly name: string;
}

export type Author =
  /** The number of the secret in `API_SECRET`, from 1. */
  | { readonly kind: 'secret'; readonly number: number }
  | { readonly kind: 'key'; readonly id: string; readonly name: string }
  /** A person at the command line, by the name of the system user. */
  | { readonly kind: 'command'; readonly user: string }
  /** A caller whose log-in was refused; for the address see core/edge/address-group.ts. */
  | { readonly kind: 'stranger'; readonly address: string };

/** The author's name in a record that is kept. */
export const nameOf = (author: Author): string =>
  author.kind === 'key' ? `key ${author.id}` : `secret ${author.kind === 'secret' ? author.number : 0}`;
