/** Recent occurrences by key: a bounded number of entries; the oldest are dropped first. */

export interface RecentOptions {
  /** How long an entry counts, in ms. */
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** In milliseconds, by a clock that never goes back. */
  readonly now: () => number;
}

export class Recent<T> {
  readonly #options: RecentOptions;
  readonly #entries = new Map<string, { readonly at: number; readonly value: T }>();

  constructor(options: RecentOptions) {
    this.#options = options;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    const { now, maxAgeMs } = this.#options;
    return entry === undefined || now() - entry.at >= maxAgeMs ? undefined : entry.value;
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { at: this.#options.now(), value });
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size > this.#options.maxEntries) this.#entries.delete(oldest);
  }
}
