/** The database operations that the lists of unsubscribed addresses need. */

export interface Unsubscribe {
  readonly id: string;
  readonly accountId: string;
  readonly list: string;
  /** In the form of deliveryAddressKey. */
  readonly address: string;
  /** The email with the link that was used. It may be deleted. */
  readonly emailId: string;
  readonly unsubscribedAt: Date;
}

export interface UnsubscribesQuery {
  /** null: all accounts. */
  readonly accountIds: readonly string[] | null;
  readonly list: string | null;
  /** In the form of deliveryAddressKey. */
  readonly address: string | null;
  readonly limit: number;
  /** The last entry of the previous page; null for the first page. */
  readonly beforeId: string | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface UnsubscribeStore {
  /** The key of all tokens; the first call among all processes stores `fresh`. */
  tokenKey(fresh: Buffer): Promise<Buffer>;
  isUnsubscribed(accountId: string, list: string, address: string): Promise<boolean>;
  /** A repeat changes nothing. */
  add(unsubscribe: Omit<Unsubscribe, 'unsubscribedAt'>): Promise<void>;
  /** The newest first. */
  list(query: UnsubscribesQuery): Promise<readonly Unsubscribe[]>;
  /** null when it does not exist. @param accountIds only of these accounts; null: of all */
  remove(id: string, accountIds: readonly string[] | null): Promise<Unsubscribe | null>;
}
