/** What happened lately, by key: a bounded number of entries, the oldest of which are dropped first. */
import type { Clock } from './basics.ts';

export interface RecentOptions {
  /** How long an entry counts, in ms. */
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  readonly clock: Clock;
}

export class Recent<T> {
  readonly #options: RecentOptions;
  readonly #entries = new Map<string, { readonly at: number; readonly value: T }>();

  constructor(options: RecentOptions) {
    this.#options = options;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    // A clock that was set back must not keep an entry for long.
    if (entry === undefined || Math.abs(this.#now() - entry.at) >= this.#options.maxAgeMs) return undefined;
    return entry.value;
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { at: this.#now(), value });
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size > this.#options.maxEntries) this.#entries.delete(oldest);
  }

  #now(): number {
    return this.#options.clock().getTime();
  }
}
