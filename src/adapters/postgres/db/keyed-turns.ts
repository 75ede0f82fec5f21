/** Makes work of this process that would block other work of it in the database wait outside. */

export interface KeyedTurns {
  /** Runs `work` when all that was given before with one of the keys has ended. Rejects as `work` does. */
  run<T>(keys: Iterable<string>, work: () => Promise<T>): Promise<T>;
  /** Whether work with these keys would begin at once. */
  isFree(keys: Iterable<string>): boolean;
}

/** Work without a common key runs at the same time. Work waits for earlier work only, so never in a circle. */
export function createKeyedTurns(): KeyedTurns {
  /** The last one of each key; none that has ended. */
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
