/**
 * Checks the tokens of sessions against a copy of all of them, as KeyRing does with keys, and then the key or secret that
 * opened the session: a session may do what that key may do now, and nothing once the key is no longer valid.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { isSessionToken } from '../../core/sessions/session-token.ts';
import type { Clock, Logger } from '../../platform/base/basics.ts';
import { CachedRows } from '../../platform/base/cached-rows.ts';
import type { KeyRing, ShownKey } from '../../platform/access/key-ring.ts';
import type { SecretHolder } from '../../platform/access/secret-holders.ts';
import type {
  KnownSession,
  SessionBase,
  SessionBrowser,
  SessionStore,
} from '../../platform/access/session-ports.ts';

export interface SessionRingPorts {
  readonly store: Pick<SessionStore, 'readAll' | 'renew'>;
  readonly keys: Pick<KeyRing, 'findByHash' | 'refresh'>;
  readonly secrets: readonly SecretHolder[];
  readonly clock: Clock;
  /** Milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
  /** A session that is not used for this long ends. */
  readonly idleMs: number;
}

/** A session is renewed once this part of `idleMs` has passed, or this long, in ms: a use costs a statement now and then, not each time. */
const RENEWAL_PART = 0.05;
const RENEWAL_MS = 900_000;

export class SessionRing {
  readonly #ports: SessionRingPorts;
  readonly #copy: CachedRows;
  /** By their digests, in hex. */
  #known = new Map<string, KnownSession>();
  #revision: string | null = null;
  readonly #renewing = new Map<string, Promise<void>>();

  constructor(ports: SessionRingPorts) {
    this.#ports = ports;
    this.#copy = new CachedRows(async () => {
      const read = await ports.store.readAll(this.#revision);
      if (read === null) return;
      this.#revision = read.revision;
      this.#known = new Map(read.sessions.map((session) => [session.digest.toString('hex'), session]));
    }, ports.now);
  }

  /**
   * null: the token is not valid. A promise only when a copy has to be read; throws `database_unavailable` when it can't
   * be.
   */
  find(token: string, browser: SessionBrowser): ShownKey | null | Promise<ShownKey | null> {
    if (!isSessionToken(token)) return null;
    const id = hashToken(token).toString('hex');
    const session = this.#copy.find(() => this.#valid(id));
    if (session instanceof Promise) return session.then((found) => this.#open(id, token, browser, found));
    return this.#open(id, token, browser, session);
  }

  /** The sessions that the key opened, and have not expired; of a secret, those that any secret opened. */
  async listOf(keyId: string | null): Promise<readonly KnownSession[]> {
    await this.#copy.refresh();
    const now = this.#ports.clock();
    return [...this.#known.values()].filter((session) => session.keyId === keyId && session.expiresAt > now);
  }

  /** The key or secret that opened it, while it is still valid; null: it is not. */
  holderOf(token: string, base: SessionBase): ShownKey | null | Promise<ShownKey | null> {
    if (base.keyId !== null) return this.#ports.keys.findByHash(base.keyId, base.credential);
    const isIts = ({ secret }: SecretHolder) =>
      timingSafeEqual(credentialOfSecret(secret, token), base.credential);
    return this.#ports.secrets.find(isIts) ?? null;
  }

  /** For long-lived connections: makes the copies of sessions and keys at most a second old. */
  async refresh(): Promise<void> {
    await Promise.all([this.#copy.refresh(), this.#ports.keys.refresh()]);
  }

  /** To be called after a change: this process then sees it at its next request. */
  expire(): void {
    this.#copy.expire();
  }

  /** Waits for the sessions that are being renewed. */
  async close(): Promise<void> {
    await Promise.all(this.#renewing.values());
  }

  #open(
    id: string,
    token: string,
    browser: SessionBrowser,
    session: KnownSession | null,
  ): ShownKey | null | Promise<ShownKey | null> {
    if (session === null || !timingSafeEqual(session.binding, bindingOf(token, browser))) return null;
    const holder = this.holderOf(token, session);
    if (holder instanceof Promise) return holder.then((found) => this.#show(id, session, found));
    return this.#show(id, session, holder);
  }

  #show(id: string, session: KnownSession, holder: ShownKey | null): ShownKey | null {
    if (holder === null) return null;
    this.#renew(id, session);
    return {
      caller: { ...holder.caller, isPerson: true },
      session,
      isValid: () => this.#valid(id) !== null && holder.isValid(),
    };
  }

  #valid(id: string): KnownSession | null {
    const session = this.#known.get(id);
    return session !== undefined && session.expiresAt > this.#ports.clock() ? session : null;
  }

  /** In the background: a request neither waits for it nor fails with it. */
  #renew(id: string, { digest, expiresAt, endsAt, lastUsedAt }: KnownSession): void {
    const { store, clock, idleMs, logger } = this.#ports;
    const now = clock().getTime();
    const until = Math.min(now + idleMs, endsAt.getTime());
    const isDue =
      until - expiresAt.getTime() >= idleMs * RENEWAL_PART || now - lastUsedAt.getTime() >= RENEWAL_MS;
    if (!isDue || this.#renewing.has(id)) return;
    const renewing = store
      .renew(digest, idleMs)
      .catch((err: unknown) => logger.warn({ err }, 'the use of a session could not be recorded'))
      .finally(() => this.#renewing.delete(id));
    this.#renewing.set(id, renewing);
  }
}

export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/** See StoredSession. */
export const bindingOf = (token: string, { device, address }: SessionBrowser): Buffer =>
  createHmac('sha256', token)
    .update(`${device}\n${address ?? ''}`)
    .digest();

/** See SessionBase. */
export const credentialOfSecret = (secret: string, token: string): Buffer =>
  createHmac('sha256', secret).update(token).digest();
