/**
 * Checks keys against a copy of all of them, which is at most a second old: it is read again when a request comes later than that. So
 * a key that was revoked ends within about a second in every process. A key that the copy does not have may be a new one: the copy is read
 * again for it, a few times each second at most, so that guessing keys costs so many small statements, however many are tried. While the database is unavailable, keys open for that second and then get `database_unavailable`.
 */
import { timingSafeEqual } from 'node:crypto';
import { parseApiKey } from '../../core/keys/api-key.ts';
import type { Caller } from '../../core/keys/caller.ts';
import type { Clock, Logger } from '../base/basics.ts';
import { hashSecret } from './hash-secret.ts';
import type { CheckedKey, KeyStore } from './key-ports.ts';

/** The greatest age of the copy, in ms, counted from before it was read. */
const FRESH_MS = 1000;
/** Keys that open nothing for which the copy is read again within FRESH_MS. The statement returns a row where nothing changed. */
const MAX_MISSES = 20;
/** A use is noted this long after the one that was noted last, in ms. */
const NOTE_USE_MS = 60_000;

export interface KeyRingPorts {
  readonly store: Pick<KeyStore, 'readAll' | 'noteUse'>;
  /** Of expiry. */
  readonly clock: Clock;
  /** Milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
}

interface Known {
  readonly key: CheckedKey;
  /** The same one for as long as the key does not change. */
  readonly caller: Caller;
}

/** A key that was shown, and whether it opens. */
export interface ShownKey {
  readonly caller: Caller;
  /** False once it is revoked, expired, or its secret was replaced, as of the copy. */
  isValid(): boolean;
}

export class KeyRing {
  readonly #ports: KeyRingPorts;
  #known = new Map<string, Known>();
  #revision: string | null = null;
  /** When the copy was read; -Infinity: not yet. */
  #readAt = -Infinity;
  #reading: Promise<void> | null = null;
  #misses = { since: -Infinity, count: 0 };
  #failure: { readonly at: number; readonly error: unknown } | null = null;
  /** id → when a use of it was noted last. */
  readonly #noted = new Map<string, number>();
  readonly #noting = new Set<Promise<void>>();

  constructor(ports: KeyRingPorts) {
    this.#ports = ports;
  }

  /** null: it opens nothing. A promise only when the copy has to be read; throws `database_unavailable` when it can't. */
  find(token: string): ShownKey | null | Promise<ShownKey | null> {
    const shown = parseApiKey(token);
    if (shown === null) return null;
    const digest = hashSecret(shown.secret);
    const found = this.#isFresh() ? this.#match(shown.id, digest) : null;
    if (found !== null) return found;
    if (this.#isFresh() && !this.#mayLookAgain()) return null;
    return this.#findAnew(shown.id, digest);
  }

  async #findAnew(id: string, digest: Buffer): Promise<ShownKey | null> {
    if (this.#reading !== null) {
      // It may have begun before the key was made.
      await this.#reading;
      const found = this.#match(id, digest);
      if (found !== null) return found;
    }
    await this.#read();
    return this.#match(id, digest);
  }

  /** Has a copy that is at most a second old. */
  async refresh(): Promise<void> {
    if (!this.#isFresh()) await this.#read();
  }

  #mayLookAgain(): boolean {
    const now = this.#ports.now();
    if (now - this.#misses.since >= FRESH_MS) this.#misses = { since: now, count: 0 };
    this.#misses.count += 1;
    return this.#misses.count <= MAX_MISSES;
  }

  /** Reads the copy, once for all who ask before the database was asked. */
  #read(): Promise<void> {
    const { store, now } = this.#ports;
    const failure = this.#failure;
    // Requests with a key, right or wrong, don't ask a database again that has just failed.
    if (failure !== null && now() - failure.at < FRESH_MS) return Promise.reject(failure.error as Error);
    this.#reading ??= (async () => {
      const startedAt = now();
      try {
        const read = await store.readAll(this.#revision);
        if (read !== null) this.#take(read.revision, read.keys);
        this.#readAt = startedAt;
        this.#failure = null;
      } catch (error) {
        this.#failure = { at: now(), error };
        throw error;
      } finally {
        this.#reading = null;
      }
    })();
    return this.#reading;
  }

  /** Waits until the uses that are being noted are. */
  async close(): Promise<void> {
    await Promise.all(this.#noting);
  }

  #isFresh(): boolean {
    return this.#ports.now() - this.#readAt < FRESH_MS;
  }

  #take(revision: string, keys: readonly CheckedKey[]): void {
    this.#revision = revision;
    this.#known = new Map(
      keys.map((key) => {
        const { id, name, rights, accounts, expiresAt } = key;
        const caller: Caller = { author: { kind: 'key', id, name }, rights, accounts, expiresAt };
        return [id, { key, caller }];
      }),
    );
    for (const id of this.#noted.keys()) if (!this.#known.has(id)) this.#noted.delete(id);
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
    const { hash, oldHash, oldSecretUntil, expiresAt } = known.key;
    const now = this.#ports.clock();
    const isOld = oldHash !== null && oldSecretUntil !== null && oldSecretUntil > now;
    const opens = [hash, ...(isOld ? [oldHash] : [])]
      .map((one) => timingSafeEqual(one, digest))
      .includes(true);
    return opens && (expiresAt === null || expiresAt > now) ? known : null;
  }

  /** In the background: a request does not wait for it, and does not fail with it. */
  #noteUse(id: string): void {
    const { store, now, logger } = this.#ports;
    if (now() - (this.#noted.get(id) ?? -Infinity) < NOTE_USE_MS) return;
    this.#noted.set(id, now());
    const noting = store
      .noteUse([id])
      .catch((err: unknown) => logger.warn({ err, key: id }, 'the use of a key could not be noted'))
      .finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
  }
}

/** Aborted, within about a second, when the key opens nothing any more. Call `stop` when nobody waits for it any more. */
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
