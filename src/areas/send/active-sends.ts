import { createUnderWay } from '../../platform/base/under-way.ts';

/**
 * The sends that this process is carrying out right now, by email id, and the rounds of a loop that settles what sends
 * leave behind. A round skips the sends under way, and one of them may be the reason for the round. So a requested round
 * is due now, and once more whenever one of those sends ends.
 */
export interface ActiveSends {
  begin(emailId: string): void;
  end(emailId: string): void;
  has(emailId: string): boolean;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

export interface Rounds {
  /** A round is due. */
  ask(): void;
  /** True once after a request. */
  take(): boolean;
}

/** The first round is due at once: an earlier process may have left something. */
export function createActiveSends(): { readonly sends: ActiveSends; readonly rounds: Rounds } {
  const active = createUnderWay();
  /** Sends whose end makes a round due. */
  const awaited = new Set<string>();
  let due = true;

  return {
    sends: {
      begin: (emailId) => active.begin(emailId),
      end(emailId) {
        if (awaited.delete(emailId)) due = true;
        active.end(emailId);
      },
      has: (emailId) => active.has(emailId),
      idle: () => active.idle(),
    },
    rounds: {
      ask() {
        due = true;
        for (const emailId of active.keys()) awaited.add(emailId);
      },
      take() {
        const wasDue = due;
        due = false;
        return wasDue;
      },
    },
  };
}
