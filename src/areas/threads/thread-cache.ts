/**
 * Threads that are read again and again, ready to be sent. The cache is never trusted: each read asks the database for the thread's version
 * first, because any process may have changed it.
 */

/**
 * Most bytes of the whole cache. Some thousand threads of an inbox: more than a team has open, and little memory compared with the rest.
 */
const MAX_BYTES = 16 * 1024 * 1024;

/** A thread with more bytes is read anew each time: a few of them would take the place of all others. */
const MAX_THREAD_BYTES = 256 * 1024;

/** Identifiers of threads that were read once. Only a thread that is read again while it is remembered is cached. */
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

  /** The thread's latest entry, which may be out of date. */
  find(threadId: string): Kept | null {
    return this.#kept.get(threadId) ?? null;
  }

  /** Call it when the entry is current, and was read. */
  touch(threadId: string, kept: Kept): void {
    if (this.#kept.get(threadId) !== kept) return;
    this.#kept.delete(threadId);
    this.#kept.set(threadId, kept);
  }

  /** Caches the result of a read, if the thread was read before. */
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
