/**
 * How often one caller may ask, as a bucket that fills all the time (GCRA): a caller may use a whole minute's requests at once, and then has
 * one more each time that its part of a minute has passed.
 */

const MINUTE_MS = 60_000;
/** What the sum of a minute's parts may miss by, in ms: they are no whole numbers. */
const ROUNDING_MS = 1e-3;

export class RequestRate {
  readonly perMinute: number;
  /** When the bucket will be full, by the caller's clock. */
  #fullAt = -Infinity;

  constructor(perMinute: number) {
    this.perMinute = perMinute;
  }

  /** Takes one request. Returns the ms until the next one is possible when there is none left; else null. */
  take(now: number): number | null {
    const next = Math.max(this.#fullAt, now) + MINUTE_MS / this.perMinute;
    if (next - now > MINUTE_MS + ROUNDING_MS) return next - now - MINUTE_MS;
    this.#fullAt = next;
    return null;
  }

  /** The requests that are left now. */
  left(now: number): number {
    return Math.max(
      0,
      Math.floor(((MINUTE_MS - this.#untilFull(now) + ROUNDING_MS) * this.perMinute) / MINUTE_MS),
    );
  }

  /** Whole seconds until all of a minute's requests are left again. */
  secondsUntilFull(now: number): number {
    return Math.ceil(Math.max(0, this.#untilFull(now) - ROUNDING_MS) / 1000);
  }

  #untilFull(now: number): number {
    return Math.max(0, this.#fullAt - now);
  }
}
