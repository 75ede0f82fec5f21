/** The loop that settles what the journal holds: at the start, and whenever an outcome could not be stored. */
import { settleJournal, type SettleJournalPorts } from '../app/send/settle-journal.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';
import { startLoop, type Loop } from './loop.ts';

/** How often to look whether a round is due, in ms: the database has been back for no longer than this. */
const INTERVAL_MS = 1000;
/** Rounds after which the journal is checked unasked: an entry may appear after its write was given up. */
const ROUNDS_BETWEEN_LOOKS = 60;

/** @param onQueueSettled called in each round when the queue may claim again */
export function startJournalSettler(
  ports: SettleJournalPorts,
  onQueueSettled: () => void,
  timers: Timers = systemTimers,
): Loop {
  let rounds = 0;
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'what the journal holds could not be settled',
    logger: ports.logger,
    timers,
    async run() {
      rounds = (rounds + 1) % ROUNDS_BETWEEN_LOOKS;
      if (!ports.settling.take() && rounds !== 0) return;
      try {
        await settleJournal(ports, onQueueSettled);
      } catch (error) {
        ports.settling.failed();
        throw error;
      }
    },
  });
}
