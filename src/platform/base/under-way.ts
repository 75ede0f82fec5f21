/** Work that is under way, each piece once by its key, for a stop that waits for the last of it. */
interface UnderWay {
  begin(key: string): void;
  /** Does nothing when the key is unknown. */
  end(key: string): void;
  has(key: string): boolean;
  keys(): Iterable<string>;
  /** Resolves when none is left. */
  idle(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const keys = new Set<string>();
  let waiters: (() => void)[] = [];
  return {
    begin: (key) => void keys.add(key),
    end(key) {
      if (!keys.delete(key) || keys.size > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    has: (key) => keys.has(key),
    keys: () => keys,
    idle: () => (keys.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
