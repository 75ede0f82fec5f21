/** The loop that settles the entries of the journal: at the start, and whenever an outcome could not be stored. */
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { settleJournal, type SettleJournalPorts } from './settle-journal.ts';
import type { Loop } from '../../platform/base/loop.ts';
import { startSettler } from './settler.ts';

/** @param onQueueSettled called in each round when the queue may claim again */
export function startJournalSettler(
  ports: SettleJournalPorts,
  onQueueSettled: () => void,
  timers: Timers = systemTimers,
): Loop {
  return startSettler({
    takeRequest: ports.settling.take,
    settle: () => settleJournal(ports, onQueueSettled),
    askAgain: ports.settling.failed,
    failure: 'what the journal holds could not be settled',
    logger: ports.logger,
    timers,
  });
}
