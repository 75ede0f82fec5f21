/** Who did something, as it is recorded beside it. JSON values only. */

/** The key that did something, as emails and events tell it. */
export interface KeyAuthor {
  readonly id: string;
  readonly name: string;
}

export type Author =
  /** One of `API_SECRET`, from 1. */
  | { readonly kind: 'secret'; readonly number: number }
  | { readonly kind: 'key'; readonly id: string; readonly name: string }
  /** A person at the command line, by the name of the system's user. */
  | { readonly kind: 'command'; readonly user: string }
  /** A caller whose log-in was refused; see core/edge/address-group.ts. */
  | { readonly kind: 'stranger'; readonly address: string };
