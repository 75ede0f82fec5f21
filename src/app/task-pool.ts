/** Runs tasks at the same time, a bounded number of them. */
import { setImmediate } from 'node:timers/promises';

export class TaskPool {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a free place and starts the task there; does not wait for its end. The task never rejects. */
  async run(task: () => Promise<void>): Promise<void> {
    // Tasks that compute before they wait would else begin in one go, and the answers for those before lie unread meanwhile.
    await setImmediate();
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    const running = task().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all that were started have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
