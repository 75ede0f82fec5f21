/**
 * A copy of rows in memory, read again when it is needed and too old. However many callers ask, the database is asked
 * once; after a failed read, it is not asked again at once.
 */

/** The greatest age of the copy, in ms, counted from before it was read. */
export const FRESH_MS = 1000;
/** Lookups that miss the copy and may have it read again within FRESH_MS. */
const MAX_MISSES = 20;

export class CachedRows {
  readonly #load: () => Promise<void>;
  readonly #now: () => number;
  /** When the copy was read; -Infinity: not yet. */
  #readAt = -Infinity;
  /** The number of `expire` calls. */
  #expired = 0;
  #reading: Promise<void> | null = null;
  #misses = { since: -Infinity, count: 0 };
  #failure: { readonly at: number; readonly error: unknown } | null = null;

  /**
   * @param load replaces the copy, and is never called twice at the same time
   * @param now milliseconds, by a clock that never goes back
   */
  constructor(load: () => Promise<void>, now: () => number) {
    this.#load = load;
    this.#now = now;
  }

  get isFresh(): boolean {
    return this.#now() - this.#readAt < FRESH_MS;
  }

  /** Everything read until now, or being read, is out of date. */
  expire(): void {
    this.#readAt = -Infinity;
    this.#expired += 1;
  }

  /** Makes the copy at most FRESH_MS old. */
  async refresh(): Promise<void> {
    if (!this.isFresh) await this.#read();
  }

  /**
   * Returns what `match` finds in the copy. The copy is read again when it is old, and when it has no match: the thing
   * may be new. Only then is the result a promise. Lookups of things that do not exist cause a few reads each second at
   * most, however many there are. Rejects as `load` does.
   */
  find<T>(match: () => T | null): T | null | Promise<T | null> {
    const found = this.isFresh ? match() : null;
    if (found !== null) return found;
    if (this.isFresh && !this.#mayLookAgain()) return null;
    return this.#findAnew(match);
  }

  async #findAnew<T>(match: () => T | null): Promise<T | null> {
    if (this.#reading !== null) {
      // That read may have begun before the thing was created.
      await this.#reading;
      const found = match();
      if (found !== null) return found;
    }
    await this.#read();
    return match();
  }

  #mayLookAgain(): boolean {
    const now = this.#now();
    if (now - this.#misses.since >= FRESH_MS) this.#misses = { since: now, count: 0 };
    this.#misses.count += 1;
    return this.#misses.count <= MAX_MISSES;
  }

  /** Reads the copy, once for all callers that ask before the statement is sent. */
  #read(): Promise<void> {
    const failure = this.#failure;
    if (failure !== null && this.#now() - failure.at < FRESH_MS)
      return Promise.reject(failure.error as Error);
    this.#reading ??= (async () => {
      const startedAt = this.#now();
      const expired = this.#expired;
      try {
        await this.#load();
        if (expired === this.#expired) this.#readAt = startedAt;
        this.#failure = null;
      } catch (error) {
        this.#failure = { at: this.#now(), error };
        throw error;
      } finally {
        this.#reading = null;
      }
    })();
    return this.#reading;
  }
}
