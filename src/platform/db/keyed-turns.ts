/** Makes work of this process that would block other work of the process in the database wait outside it. */

export interface KeyedTurns {
  /** Runs `work` when all earlier work with one of the keys has ended. Rejects as `work` does. */
  run<T>(keys: Iterable<string>, work: () => Promise<T>): Promise<T>;
  /** True if work with these keys would begin at once. */
  isFree(keys: Iterable<string>): boolean;
}

/** Work without a common key runs at the same time. Work waits for earlier work only, so never in a circle. */
export function createKeyedTurns(): KeyedTurns {
  /** Each key's last work; work that has ended is removed. */
  const last = new Map<string, Promise<void>>();

  return {
    async run(keys, work) {
      const own = [...new Set(keys)];
      const before = own.flatMap((key) => last.get(key) ?? []);
      const result = Promise.all(before).then(work);
      const ended = result.then(
        () => undefined,
        () => undefined,
      );
      for (const key of own) last.set(key, ended);
      try {
        return await result;
      } finally {
        for (const key of own) if (last.get(key) === ended) last.delete(key);
      }
    },

    isFree(keys) {
      for (const key of keys) if (last.has(key)) return false;
      return true;
    },
  };
}
