/** Leaving a list by its link, for recipients. */

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
}
