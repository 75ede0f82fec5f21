/**
 * Threads that are read again and again, ready to be sent. What is kept is never trusted: each read asks the database for
 * the thread's version first, so any process may have changed it.
 */

/** Bytes of all that is kept. Some thousand threads of an inbox: more than a team has open, and no burden beside the rest. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A thread with more bytes is read anew each time: a few would take the place of all others. */
const MAX_THREAD_BYTES = 256 * 1024;

/** Threads that were read once, by their identifiers. Only one that comes again while it is remembered is kept. */
const MAX_REMEMBERED = 4096;

interface Kept {
  readonly version: string;
  readonly json: Buffer;
}

export class ThreadCache {
  /** The least recently read first, as in `#once`. */
  readonly #kept = new Map<string, Kept>();
  readonly #once = new Set<string>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** What was given for it last, which may be of the past. */
  find(threadId: string): Kept | null {
    return this.#kept.get(threadId) ?? null;
  }

  /** It is current, and was read. */
  touch(threadId: string, kept: Kept): void {
    if (this.#kept.get(threadId) !== kept) return;
    this.#kept.delete(threadId);
    this.#kept.set(threadId, kept);
  }

  /** Keeps what was read, if the thread was read before. */
  add(threadId: string, version: string, json: string): void {
    const old = this.#kept.get(threadId);
    if (old === undefined && !this.#isSecond(threadId)) return;
    if (old !== undefined) this.#drop(threadId, old);
    const kept = { version, json: Buffer.from(json) };
    if (kept.json.length > MAX_THREAD_BYTES) return;
    this.#kept.set(threadId, kept);
    this.#bytes += kept.json.length;
    for (const [id, oldest] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(id, oldest);
    }
  }

  #isSecond(threadId: string): boolean {
    if (this.#once.delete(threadId)) return true;
    this.#once.add(threadId);
    if (this.#once.size > MAX_REMEMBERED) {
      for (const oldest of this.#once) {
        this.#once.delete(oldest);
        break;
      }
    }
    return false;
  }

  #drop(threadId: string, { json }: Kept): void {
    this.#kept.delete(threadId);
    this.#bytes -= json.length;
  }
}
