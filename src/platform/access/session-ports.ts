/** Sessions of browsers and links to log in, as they are stored: only hashes. */

/** The secret or key that opened a session, which must still be valid. */
export interface SessionBase {
  /** The id of the key that opened it; null: a secret did. */
  readonly keyId: string | null;
  /**
   * For a key: SHA-256 of its secret. For a secret: its HMAC-SHA256 of the token, so that a short secret can't be guessed
   * from the database alone, which does not have the token.
   */
  readonly credential: Buffer;
}

/** What a session is bound to beside its token. */
export interface SessionBrowser {
  /** As core/sessions/device.ts names it. */
  readonly device: string;
  /** The group of the client's address, when the connection lets others read the cookie; null: any. */
  readonly address: string | null;
}

export interface StoredSession extends SessionBase {
  /** A UUID, not secret. */
  readonly id: string;
  readonly device: string;
  /** HMAC-SHA256 of its browser with the token, so that the address can't be read from the database. */
  readonly binding: Buffer;
  /** SHA-256 of the token. */
  readonly digest: Buffer;
  /** Extended while it is used, but not beyond `endsAt`. Both by the database's clock. */
  readonly expiresAt: Date;
  readonly endsAt: Date;
}

/** As it is read. */
export interface KnownSession extends StoredSession {
  readonly createdAt: Date;
  /** Within a quarter of an hour. */
  readonly lastUsedAt: Date;
}

export interface StoredLink extends SessionBase {
  readonly digest: Buffer;
}

export interface NewLink extends StoredLink {
  /** How long it is valid, in ms. */
  readonly lifeMs: number;
}

/** One that is to be opened. */
export interface NewSession extends Omit<StoredSession, 'expiresAt' | 'endsAt'> {
  /** How long it lives without being used, and in all, in ms. */
  readonly idleMs: number;
  readonly maxMs: number;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface SessionStore {
  /**
   * Opens a session, and uses up the link if one is given: null when the link was used meanwhile, or has expired. Among
   * the sessions of one key, or of the secrets, those that would end first make room.
   */
  open(session: NewSession, linkDigest: Buffer | null): Promise<StoredSession | null>;
  /** Notes that it was used: from now on it lives for that long without being used, in ms. */
  renew(digest: Buffer, idleMs: number): Promise<void>;
  end(digest: Buffer): Promise<void>;
  /** Ends all sessions of a key; null: of the secrets. Returns how many. */
  endAll(keyId: string | null): Promise<number>;
  /** Every session that has not expired; null when nothing has changed since `revision`. */
  readAll(
    revision: string | null,
  ): Promise<{ readonly revision: string; readonly sessions: readonly KnownSession[] } | null>;
  /** The oldest links make room. */
  createLink(link: NewLink): Promise<void>;
  /** All links that are valid, a hundred at most. */
  readLinks(): Promise<readonly StoredLink[]>;
  /** False: no session was ever opened with this database. */
  wasEverOpened(): Promise<boolean>;
}
