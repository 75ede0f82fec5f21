/** The use cases of sessions that the edges call. */
import type { ShownKey, ShownSession } from './key-ring.ts';
import type { KnownSession, SessionBrowser } from './session-ports.ts';

export interface OpenedSession {
  /** Returned only this once, and stored nowhere. */
  readonly token: string;
  readonly shown: ShownKey;
  readonly session: ShownSession;
  /** However much it is used. */
  /** How long it lives at most, in ms. */
  readonly maxMs: number;
}

export interface SessionUseCases {
  /** null: the secret or key is not valid. */
  openBySecret(secret: string, browser: SessionBrowser): Promise<OpenedSession | null>;
  /** null: the link was used, has expired, or its key is no longer valid. */
  openByLink(token: string, browser: SessionBrowser): Promise<OpenedSession | null>;
  /** Finds the holder of a session; null: not a session of this browser. A promise only when a copy has to be read. */
  find(token: string, browser: SessionBrowser): ShownKey | null | Promise<ShownKey | null>;
  /** For long-lived connections: afterwards, `isValid` of the session that was found is at most a second late. */
  refresh(): Promise<void>;
  end(session: ShownSession): Promise<void>;
  /** The sessions of the same key, the last used first; for a secret, of all secrets. */
  listOf(shown: ShownKey): Promise<readonly KnownSession[]>;
  /** Ends one of them. Throws `session_not_found`. */
  endOneOf(shown: ShownKey, id: string): Promise<void>;
  /** Ends all sessions of the same key; for a secret, of all secrets. Returns how many. */
  endAllOf(shown: ShownKey): Promise<number>;
}
