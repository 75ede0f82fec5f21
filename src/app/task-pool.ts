/** Runs tasks at the same time, a bounded number of them. */
export class TaskPool {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a free place and starts the task there; does not wait for its end. The task never rejects. */
  async run(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    const running = task().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all that were started have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
