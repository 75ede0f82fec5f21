/**
 * Decides if the journal is to be gone over, because it may have entries that no process works on: after a start, and
 * when an outcome could not be stored. While that may concern the queue, the queue claims nothing: the journal may show
 * that an email that waits for its next attempt was accepted.
 */
import { isDirect, type ClaimKey } from './claim.ts';

export interface Settling {
  /** The claim has ended, and the journal has it, or may have it. */
  ask(key: ClaimKey): void;
  /** Something is left for another round; the queue need not wait for it. */
  askAgain(): void;
  /** True once after a request. */
  take(): boolean;
  /** The outcomes of queued sends that the round found are stored. */
  queueIsSettled(): void;
  /** The round failed. */
  failed(): void;
  holdsUpQueue(): boolean;
}

/** The first round is due at once: an earlier process may have left something. */
export function createSettling(): Settling {
  let due = true;
  /** `due` is for a round to come, `taken` for the one under way. */
  const queue = { due: true, taken: false };
  return {
    ask(key) {
      due = true;
      if (!isDirect(key)) queue.due = true;
    },
    askAgain() {
      due = true;
    },
    take() {
      const wasDue = due;
      due = false;
      queue.taken = queue.due;
      queue.due = false;
      return wasDue;
    },
    queueIsSettled() {
      queue.taken = false;
    },
    failed() {
      due = true;
      queue.due ||= queue.taken;
    },
    holdsUpQueue: () => queue.due || queue.taken,
  };
}
