/** Sessions of browsers and links to log in, as they are stored: hashes alone. */

/** What was shown to open it, and has to open still. */
export interface SessionBase {
  /** Of the key that opened it; null: a secret did. */
  readonly keyId: string | null;
  /**
   * Of a key: SHA-256 of its secret. Of a secret: its HMAC-SHA256 of the token, so that a short secret can't be guessed from the database
   * alone, which does not have the token.
   */
  readonly credential: Buffer;
}

export interface StoredSession extends SessionBase {
  /** SHA-256 of the token. */
  readonly digest: Buffer;
  /** Moves on while it is used, but not beyond `endsAt`. */
  readonly expiresAt: Date;
  readonly endsAt: Date;
}

export interface StoredLink extends SessionBase {
  readonly digest: Buffer;
  readonly expiresAt: Date;
}

/** All throw `ServiceError('database_unavailable')`. */
export interface SessionStore {
  /**
   * Opens one, and uses up the link where one is given: false when that was used meanwhile, or has expired. Of one key, or of the secrets,
   * the sessions that would end first make room.
   */
  open(session: StoredSession, linkDigest: Buffer | null): Promise<boolean>;
  /** Lets it live until then. */
  renew(digest: Buffer, expiresAt: Date): Promise<void>;
  end(digest: Buffer): Promise<void>;
  /** All of a key; null: of the secrets. Returns how many. */
  endAll(keyId: string | null): Promise<number>;
  /** Every session that has not expired, unless nothing has changed since `revision`: null then. */
  readAll(
    revision: string | null,
  ): Promise<{ readonly revision: string; readonly sessions: readonly StoredSession[] } | null>;
  /** The oldest links make room. */
  createLink(link: StoredLink): Promise<void>;
  /** null: there is none that is still good. */
  readLink(digest: Buffer): Promise<SessionBase | null>;
  /** False: no session was ever opened with this database. */
  wasEverOpened(): Promise<boolean>;
}
