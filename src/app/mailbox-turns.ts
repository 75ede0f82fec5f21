/** Taking turns: at most so many at the same time, the others wait in the order they came. */

export interface Turns {
  /**
   * Runs `work` when it is its turn. Rejects with the reason of `signal` when that comes first. `work` calls its argument
   * whenever it gets on.
   */
  run<T>(signal: AbortSignal, work: (onProgress: () => void) => Promise<T>): Promise<T>;
}

/**
 * @param stallMs a turn that does not get on for so long makes room for the next, so that servers that hang do not keep
 *   the others waiting; it goes on itself. Default: never.
 */
export function createTurns(size: number, stallMs: number | null = null): Turns {
  const waiting = new Set<() => void>();
  let running = 0;

  const begin = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (running < size) {
        running += 1;
        resolve();
        return;
      }
      const onAbort = () => {
        waiting.delete(proceed);
        reject(signal.reason as Error);
      };
      const proceed = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
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
