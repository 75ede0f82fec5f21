/** Turns: a bounded number of callers work at the same time, the others wait in the order they came. */

export interface Turns {
  /**
   * Runs `work` when it is its turn. Rejects with the reason of `signal` when that comes first. `work` calls its argument
   * whenever it makes progress.
   */
  run<T>(signal: AbortSignal, work: (onProgress: () => void) => Promise<T>): Promise<T>;
}

/**
 * @param stallMs a turn without progress for so long makes room for the next one, so that servers that hang do not keep
 *   the others waiting; the turn itself continues. Default: never.
 */
export function createTurns(size: number, stallMs: number | null = null): Turns {
  const waiting = new Set<() => void>();
  const refusals = new Refusals();
  let running = 0;

  const begin = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (running < size) {
        running += 1;
        resolve();
        return;
      }
      const refuse = () => {
        waiting.delete(proceed);
        reject(signal.reason as Error);
      };
      const proceed = () => {
        refusals.delete(signal, refuse);
        resolve();
      };
      refusals.add(signal, refuse);
      waiting.add(proceed);
    });

  const end = () => {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    async run(signal, work) {
      signal.throwIfAborted();
      await begin(signal);
      let over = false;
      const makeRoom = () => {
        if (over) return;
        over = true;
        end();
      };
      const timer = stallMs === null ? null : setTimeout(makeRoom, stallMs);
      try {
        signal.throwIfAborted();
        return await work(() => {
          if (!over) timer?.refresh();
        });
      } finally {
        if (timer !== null) clearTimeout(timer);
        makeRoom();
      }
    },
  };
}

/**
 * What to call when signals abort, with one listener for each signal: a mailbox has dozens of messages wait for their
 * turns on one signal, and Node.js takes more than ten listeners for a leak.
 */
class Refusals {
  readonly #bySignal = new Map<AbortSignal, Set<() => void>>();

  add(signal: AbortSignal, refuse: () => void): void {
    const refusals = this.#bySignal.get(signal);
    if (refusals !== undefined) {
      refusals.add(refuse);
      return;
    }
    this.#bySignal.set(signal, new Set([refuse]));
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  delete(signal: AbortSignal, refuse: () => void): void {
    const refusals = this.#bySignal.get(signal);
    refusals?.delete(refuse);
    if (refusals?.size === 0) this.#forget(signal);
  }

  readonly #onAbort = ({ currentTarget }: Event): void => {
    const signal = currentTarget as AbortSignal;
    const refusals = this.#bySignal.get(signal) ?? [];
    this.#forget(signal);
    for (const refuse of refusals) refuse();
  };

  #forget(signal: AbortSignal): void {
    this.#bySignal.delete(signal);
    signal.removeEventListener('abort', this.#onAbort);
  }
}
