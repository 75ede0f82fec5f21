/** What the edges ask of sessions. */
import type { ShownKey, ShownSession } from '../keys/key-ring.ts';

export interface OpenedSession {
  /** Told this once, and stored nowhere. */
  readonly token: string;
  readonly shown: ShownKey;
  readonly session: ShownSession;
  /** However much it is used. */
  readonly endsAt: Date;
}

export interface SessionUseCases {
  /** null: the secret or key opens nothing. */
  openBySecret(secret: string): Promise<OpenedSession | null>;
  /** null: the link was used, has expired, or its key opens nothing. Throws `busy` when very many are tried. */
  openByLink(token: string): Promise<OpenedSession | null>;
  /** Whose session it is; null: not a session. A promise only when a copy has to be read. */
  find(token: string): ShownKey | null | Promise<ShownKey | null>;
  /** For connections that last: `isValid` of the session that was found is at most a second late afterwards. */
  refresh(): Promise<void>;
  end(session: ShownSession): Promise<void>;
  /** Everywhere, of the same key; for a secret, of all secrets. Returns how many there were. */
  endAllOf(shown: ShownKey): Promise<number>;
}
