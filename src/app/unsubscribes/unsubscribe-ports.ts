/** What the lists of unsubscribed addresses need from the database. */

export interface Unsubscribe {
  readonly id: string;
  readonly accountId: string;
  readonly list: string;
  /** As deliveryAddressKey gives it. */
  readonly address: string;
  /** The email with the link that was used. It may be gone. */
  readonly emailId: string;
  readonly unsubscribedAt: Date;
}

export interface UnsubscribesQuery {
  /** null: of all. */
  readonly accountIds: readonly string[] | null;
  readonly list: string | null;
  /** As deliveryAddressKey gives it. */
  readonly address: string | null;
  readonly limit: number;
  /** The last one of the page before; null for the first page. */
  readonly beforeId: string | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface UnsubscribeStore {
  /** The key of all tokens; the first call of all processes takes `fresh`. */
  tokenKey(fresh: Buffer): Promise<Buffer>;
  isUnsubscribed(accountId: string, list: string, address: string): Promise<boolean>;
  /** A repeat changes nothing. */
  add(unsubscribe: Omit<Unsubscribe, 'unsubscribedAt'>): Promise<void>;
  /** The newest first. */
  list(query: UnsubscribesQuery): Promise<readonly Unsubscribe[]>;
  /** null when there is none. @param accountIds only of these; null: of all */
  remove(id: string, accountIds: readonly string[] | null): Promise<Unsubscribe | null>;
}
