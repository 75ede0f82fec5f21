/**
 * Checks keys against a copy of all of them, which is at most a second old: a request that comes later has it read again.
 * So a revoked key ends within about a second in every process. A key that is not in the copy may be new: the copy is
 * read again for it, a few times each second at most, so that guessing keys costs only that many small statements,
 * however many are tried. While the database is unavailable, keys work for that second and then get
 * `database_unavailable`.
 */
import { timingSafeEqual } from 'node:crypto';
import { parseApiKey } from '../../core/keys/api-key.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Clock, Logger } from '../base/basics.ts';
import { FRESH_MS, CachedRows } from '../base/cached-rows.ts';
import { hashSecret } from './hash-secret.ts';
import type { CheckedKey, KeyStore } from './key-ports.ts';

/** A use is recorded this long after the last recorded one, in ms. */
const NOTE_USE_MS = 60_000;

export interface KeyRingPorts {
  readonly store: Pick<KeyStore, 'readAll' | 'noteUse'>;
  /** For the expiry of keys. */
  readonly clock: Clock;
  /** Milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
}

interface Known {
  readonly key: CheckedKey;
  /** The same object for as long as the key does not change. */
  readonly caller: Caller;
}

/** A session that was opened with a key, or with a secret. */
export interface ShownSession {
  /** Not secret: a UUID. */
  readonly id: string;
  /** SHA-256 of its token. */
  readonly digest: Buffer;
  /** The session ends then, unless it is used before. */
  readonly expiresAt: Date;
}

/** A key that a caller presented, and its validity. */
export interface ShownKey {
  readonly caller: Caller;
  /** The session that presented it; absent: the key itself was presented. */
  readonly session?: ShownSession;
  /** False once it is revoked, expired, or its secret was replaced, according to the copy. */
  isValid(): boolean;
}

/** A key that was valid once, or a secret of it that a newer one replaced; as the codes of errors. */
export type KeyRefusal = 'expired_key' | 'revoked_key';

export class KeyRing {
  readonly #ports: KeyRingPorts;
  readonly #copy: CachedRows;
  #known = new Map<string, Known>();
  #revision: string | null = null;
  /** id → when a use of it was last recorded. */
  readonly #noted = new Map<string, number>();
  readonly #noting = new Set<Promise<void>>();

  constructor(ports: KeyRingPorts) {
    this.#ports = ports;
    this.#copy = new CachedRows(async () => {
      const read = await ports.store.readAll(this.#revision);
      if (read !== null) this.#take(read.revision, read.keys);
    }, ports.now);
  }

  /**
   * null: the token is not valid. A promise only when the copy has to be read; throws `database_unavailable` when it
   * can't be.
   */
  find(token: string): ShownKey | null | Promise<ShownKey | null> {
    const shown = parseApiKey(token);
    return shown === null ? null : this.findByHash(shown.id, hashSecret(shown.secret));
  }

  /** The same for a session that a key opened: the hash of the key's secret identifies it. */
  findByHash(id: string, digest: Buffer): ShownKey | null | Promise<ShownKey | null> {
    return this.#copy.find(() => this.#match(id, digest));
  }

  /** Makes the copy at most a second old. */
  refresh(): Promise<void> {
    return this.#copy.refresh();
  }

  /** Waits for the uses that are being recorded. */
  async close(): Promise<void> {
    await Promise.all(this.#noting);
  }

  #take(revision: string, keys: readonly CheckedKey[]): void {
    this.#revision = revision;
    this.#known = new Map(
      keys.map((key) => {
        const { id, name, rights, accounts, expiresAt, rateLimit } = key;
        const caller: Caller = { author: { kind: 'key', id, name }, rights, accounts, expiresAt, rateLimit };
        return [id, { key, caller }];
      }),
    );
    for (const id of this.#noted.keys()) if (!this.#known.has(id)) this.#noted.delete(id);
  }

  /** Why a token that was not found opens nothing; null: it is not a key's, as far as the copy tells. */
  whyRefused(token: string): KeyRefusal | null {
    const shown = parseApiKey(token);
    const known = this.#known.get(shown?.id ?? '');
    if (shown === null || known === undefined) return null;
    const { hash, oldHash, revokedAt } = known.key;
    if (!hasHash([hash, oldHash], hashSecret(shown.secret))) return null;
    return revokedAt === null ? 'expired_key' : 'revoked_key';
  }

  #match(id: string, digest: Buffer): ShownKey | null {
    const known = this.#valid(id, digest);
    if (known === null) return null;
    this.#noteUse(id);
    return { caller: known.caller, isValid: () => this.#valid(id, digest) !== null };
  }

  #valid(id: string, digest: Buffer): Known | null {
    const known = this.#known.get(id);
    if (known === undefined) return null;
    const { hash, oldHash, oldSecretUntil, expiresAt, revokedAt } = known.key;
    const now = this.#ports.clock();
    const isOldValid = oldSecretUntil !== null && oldSecretUntil > now;
    const opens = hasHash([hash, isOldValid ? oldHash : null], digest);
    return opens && revokedAt === null && (expiresAt === null || expiresAt > now) ? known : null;
  }

  /** In the background: a request neither waits for it nor fails with it. */
  #noteUse(id: string): void {
    const { store, now, logger } = this.#ports;
    if (now() - (this.#noted.get(id) ?? -Infinity) < NOTE_USE_MS) return;
    this.#noted.set(id, now());
    const noting = store
      .noteUse([id])
      .catch((err: unknown) => logger.warn({ err, key: id }, 'the use of a key could not be recorded'))
      .finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
  }
}

/** In constant time. */
const hasHash = (hashes: readonly (Buffer | null)[], digest: Buffer): boolean =>
  hashes.map((one) => one !== null && timingSafeEqual(one, digest)).includes(true);

/** Aborted, within about a second, when the key is no longer valid. Call `stop` when the signal is no longer needed. */
export function watchKey(
  ring: Pick<KeyRing, 'refresh'>,
  { isValid }: ShownKey,
  intervalMs = FRESH_MS,
): { readonly ended: AbortSignal; stop(): void } {
  const ended = new AbortController();
  const check = () => {
    if (!isValid()) ended.abort();
  };
  const timer = setInterval(() => {
    // While the copy can't be read, a key still expires; requests with a key report the failure.
    void ring.refresh().then(check, check);
  }, intervalMs);
  timer.unref();
  return { ended: ended.signal, stop: () => clearInterval(timer) };
}
