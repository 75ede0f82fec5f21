/** The use cases of the lists that recipients leave, for the edges. */
import type { AccountFilter } from '../base/account-filter.ts';
import type { PageRequest } from '../base/paging.ts';
import type { Unsubscribe } from './unsubscribe-ports.ts';

export interface UnsubscribesRequest extends PageRequest, AccountFilter {
  readonly list: string | null;
  /** As a caller writes it. */
  readonly address: string | null;
}

export interface UnsubscribesPage {
  readonly unsubscribes: readonly Unsubscribe[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** The address of a token, and the list that it would leave. */
export interface TokenView {
  readonly list: string;
  readonly address: string;
}

export interface UnsubscribeUseCases {
  /** The list and address of a link; changes nothing. null when the token is not valid. Throws `database_unavailable`. */
  readUnsubscribeToken(token: string): Promise<TokenView | null>;
  /** Returns the same for a repeat. null when the token is not valid. Throws `database_unavailable`. */
  unsubscribe(token: string): Promise<TokenView | null>;
  /** The newest first. Throws `invalid_address`, `invalid_cursor`. */
  listUnsubscribes(request: UnsubscribesRequest): Promise<UnsubscribesPage>;
  /**
   * The address gets mail of the list again. Throws `unsubscribe_not_found`. @param within only of these accounts; null:
   * of all
   */
  removeUnsubscribe(id: string, within?: readonly string[] | null): Promise<Unsubscribe>;
}
