/**
 * Syncs of the same folder that are asked for at the same time share one. A sync that has begun may miss a change
 * made after its beginning; so whoever asks meanwhile waits for the next one, together with all others.
 */
export class SharedSync {
  readonly #sync: (path: string) => Promise<void>;
  readonly #running = new Map<string, { readonly current: Promise<void>; next: Promise<void> | null }>();

  constructor(sync: (path: string) => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when everything done to the folder before the call is on the disk. */
  sync(path: string): Promise<void> {
    const running = this.#running.get(path);
    if (running === undefined) return this.#start(path);
    running.next ??= this.#startAfter(running.current, path);
    return running.next;
  }

  async #startAfter(current: Promise<void>, path: string): Promise<void> {
    await current.catch(() => undefined);
    return this.#start(path);
  }

  #start(path: string): Promise<void> {
    const current = this.#sync(path);
    const running = { current, next: null };
    this.#running.set(path, running);
    const end = (): void => {
      if (this.#running.get(path) === running) this.#running.delete(path);
    };
    current.then(end, end);
    return current;
  }
}
