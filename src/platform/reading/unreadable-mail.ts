/** Remembers mail that could not be read, so that the same bytes are not read again when they arrive by another path. */
import type { ReadFailure } from './reading-ports.ts';

/** Entries remembered at a time: a flood of others drops the oldest, which costs one more try. */
const MAX_REMEMBERED = 1000;

export class UnreadableMail {
  readonly #reasons = new Map<string, ReadFailure>();

  get isEmpty(): boolean {
    return this.#reasons.size === 0;
  }

  /** @param sha256 of the raw message, lower-case hex */
  add(sha256: string, reason: ReadFailure): void {
    this.#reasons.delete(sha256);
    this.#reasons.set(sha256, reason);
    const [oldest] = this.#reasons.keys();
    if (oldest !== undefined && this.#reasons.size > MAX_REMEMBERED) this.#reasons.delete(oldest);
  }

  /** null when it was read, or never tried. */
  reasonOf(sha256: string): ReadFailure | null {
    return this.#reasons.get(sha256) ?? null;
  }
}
