/**
 * Which sends this process is carrying out right now, so that the replay of the journal leaves them alone, and
 * whether the journal holds sends that wait to be stored.
 */
import { createActiveSends, type ActiveSends } from './active-sends.ts';

export interface PendingSends extends ActiveSends {
  /** A send is in the journal only; the replay is due, and again when those under way now have ended. */
  needsReplay(): void;
  /** True once after `needsReplay`. */
  takeReplayRequest(): boolean;
}

export function createPendingSends(): PendingSends {
  const { sends, rounds } = createActiveSends();
  return { ...sends, needsReplay: () => rounds.ask(), takeReplayRequest: () => rounds.take() };
}
