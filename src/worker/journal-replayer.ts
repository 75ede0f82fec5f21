/** The loop that carries out the replay of the journal: at the start, and whenever a send could not be stored. */
import type { Logger } from '../app/base/basics.ts';
import { replayJournal, type ReplayPorts } from '../app/send/replay-journal.ts';
import { systemTimers, type Timers } from '../app/base/timers.ts';
import { startLoop, type Loop } from './loop.ts';

/** How often to look whether a replay is due, in ms: the database has been back for no longer than this. */
const INTERVAL_MS = 1000;

export function startJournalReplayer(
  ports: ReplayPorts,
  logger: Logger,
  timers: Timers = systemTimers,
): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'the replay of the journal failed',
    logger,
    timers,
    async run() {
      if (!ports.pending.takeReplayRequest()) return;
      try {
        await replayJournal(ports);
      } catch (error) {
        ports.pending.needsReplay();
        throw error;
      }
    },
  });
}
