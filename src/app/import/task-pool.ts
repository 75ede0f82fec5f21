/** Runs tasks concurrently, with bounds on their number and on the bytes that they hold. */
import { setImmediate } from 'node:timers/promises';

export class TaskPool {
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  /** Waits for a free place and starts the task there; does not wait for its end. The task never rejects. */
  async run(bytes: number, task: () => Promise<void>): Promise<void> {
    // Otherwise tasks that compute before they wait would all begin at once, and answers to earlier ones would wait unread.
    await setImmediate();
    while (this.#isFull(bytes)) await Promise.race(this.#running);
    this.#bytes += bytes;
    const running = task().finally(() => {
      this.#running.delete(running);
      this.#bytes -= bytes;
    });
    this.#running.add(running);
  }

  /** Resolves when all that were started have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** One task may always run, however large it is. */
  #isFull(bytes: number): boolean {
    const count = this.#running.size;
    return count > 0 && (count >= this.#limit || this.#bytes + bytes > this.#maxBytes);
  }
}
