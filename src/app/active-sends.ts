/** The sends that this process is carrying out right now, by email id. */
export interface ActiveSends {
  begin(emailId: string): void;
  end(emailId: string): void;
  has(emailId: string): boolean;
  /** Those under way now. */
  list(): readonly string[];
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

export function createActiveSends(): ActiveSends {
  const active = new Set<string>();
  let waiters: (() => void)[] = [];

  return {
    begin: (emailId) => void active.add(emailId),
    end(emailId) {
      active.delete(emailId);
      if (active.size > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    has: (emailId) => active.has(emailId),
    list: () => [...active],
    idle: () => (active.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
