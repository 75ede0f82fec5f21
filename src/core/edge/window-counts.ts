/** Counts events per key within a window of time, in bounded memory. */

export interface WindowCountsOptions {
  /** A key's window begins with its first event and lasts this long, in milliseconds. */
  readonly windowMs: number;
  /** Keys held at most; the key with the oldest window makes room. */
  readonly maxKeys: number;
}

export interface WindowCount {
  /** Events in the window, the last one included. */
  readonly count: number;
  /** When the window ends, in milliseconds by the clock of the caller. */
  readonly endsAt: number;
}

export class WindowCounts {
  readonly #options: WindowCountsOptions;
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, WindowCount>();

  constructor(options: WindowCountsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** Events in the window at `now`, without counting another. */
  count(key: string, now: number): number {
    const window = this.#windows.get(key);
    return window === undefined || window.endsAt <= now ? 0 : window.count;
  }

  /** Counts one more at `now`, by a clock that never goes back. */
  add(key: string, now: number): WindowCount {
    const { windowMs, maxKeys } = this.#options;
    for (const [old, { endsAt }] of this.#windows) {
      if (endsAt > now && (this.#windows.size < maxKeys || this.#windows.has(key))) break;
      this.#windows.delete(old);
    }
    const { count, endsAt } = this.#windows.get(key) ?? { count: 0, endsAt: now + windowMs };
    const next = { count: count + 1, endsAt };
    // An existing entry keeps its place in the order.
    this.#windows.set(key, next);
    return next;
  }
}

/** True for 1, 10, 100, …: an event that happens a million times is reported seven times. */
export function isWorthTelling(count: number): boolean {
  return /^10*$/.test(String(count));
}
