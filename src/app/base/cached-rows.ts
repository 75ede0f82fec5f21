/**
 * A copy of rows in memory that is read again when it is needed and too old. Many ask it, the database is asked once; one that failed
 * is not asked again at once.
 */

/** The greatest age of the copy, in ms, counted from before it was read. */
export const FRESH_MS = 1000;
/** Things that the copy does not have for which it is read again within FRESH_MS. */
const MAX_MISSES = 20;

export class CachedRows {
  readonly #load: () => Promise<void>;
  readonly #now: () => number;
  /** When the copy was read; -Infinity: not yet. */
  #readAt = -Infinity;
  /** How many times it was told to expire. */
  #expired = 0;
  #reading: Promise<void> | null = null;
  #misses = { since: -Infinity, count: 0 };
  #failure: { readonly at: number; readonly error: unknown } | null = null;

  /**
   * @param load takes the rows over, and is never called twice at a time
   * @param now milliseconds, by a clock that never goes back
   */
  constructor(load: () => Promise<void>, now: () => number) {
    this.#load = load;
    this.#now = now;
  }

  get isFresh(): boolean {
    return this.#now() - this.#readAt < FRESH_MS;
  }

  /** What was read until now counts no more, nor what is being read. */
  expire(): void {
    this.#readAt = -Infinity;
    this.#expired += 1;
  }

  /** Has a copy that is at most FRESH_MS old. */
  async refresh(): Promise<void> {
    if (!this.isFresh) await this.#read();
  }

  /**
   * What `match` finds in the copy. The copy is read again where it is old, and where it has nothing: that may be new. A promise only then.
   * Things that do not exist have it read a few times each second at most, however many are tried. Rejects as `load` does.
   */
  find<T>(match: () => T | null): T | null | Promise<T | null> {
    const found = this.isFresh ? match() : null;
    if (found !== null) return found;
    if (this.isFresh && !this.#mayLookAgain()) return null;
    return this.#findAnew(match);
  }

  async #findAnew<T>(match: () => T | null): Promise<T | null> {
    if (this.#reading !== null) {
      // It may have begun before the thing was made.
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

  /** Reads the copy, once for all who ask before the database was asked. */
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
