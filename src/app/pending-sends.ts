/**
 * Which sends this process is carrying out right now, so that the replay of the journal leaves them alone, and
 * whether the journal holds sends that wait to be stored.
 */
import { createActiveSends, type ActiveSends } from './active-sends.ts';

export interface PendingSends extends ActiveSends {
  /**
   * A send is in the journal only; the replay is due. It is due again when a send ends that is under way now: the
   * replay passes those by, and it may be one of them that asks.
   */
  needsReplay(): void;
  /** True once after `needsReplay`. */
  takeReplayRequest(): boolean;
}

export function createPendingSends(): PendingSends {
  const active = createActiveSends();
  /** Sends whose end makes the replay due. */
  const awaited = new Set<string>();
  // The journal of an earlier process may hold something.
  let replayRequested = true;

  return {
    ...active,
    end(emailId) {
      if (awaited.delete(emailId)) replayRequested = true;
      active.end(emailId);
    },
    needsReplay: () => {
      replayRequested = true;
      for (const emailId of active.list()) awaited.add(emailId);
    },
    takeReplayRequest() {
      const requested = replayRequested;
      replayRequested = false;
      return requested;
    },
  };
}
