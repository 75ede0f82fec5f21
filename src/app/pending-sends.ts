/**
 * Which sends this process is carrying out right now, so that the replay of the journal leaves them alone, and
 * whether the journal holds sends that wait to be stored.
 */
export interface PendingSends {
  begin(emailId: string): void;
  end(emailId: string): void;
  has(emailId: string): boolean;
  /**
   * A send is in the journal only; the replay is due. It is due again when a send ends that is under way now: the
   * replay passes those by, and it may be one of them that asks.
   */
  needsReplay(): void;
  /** True once after `needsReplay`. */
  takeReplayRequest(): boolean;
  /** Resolves when no send is under way. */
  idle(): Promise<void>;
}

export function createPendingSends(): PendingSends {
  const active = new Set<string>();
  /** Sends whose end makes the replay due. */
  const awaited = new Set<string>();
  let waiters: (() => void)[] = [];
  // The journal of an earlier process may hold something.
  let replayRequested = true;

  return {
    begin: (emailId) => void active.add(emailId),
    end(emailId) {
      active.delete(emailId);
      if (awaited.delete(emailId)) replayRequested = true;
      if (active.size > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    has: (emailId) => active.has(emailId),
    needsReplay: () => {
      replayRequested = true;
      for (const emailId of active) awaited.add(emailId);
    },
    takeReplayRequest() {
      const requested = replayRequested;
      replayRequested = false;
      return requested;
    },
    idle: () => (active.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
