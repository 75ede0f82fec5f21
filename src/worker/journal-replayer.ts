/** The loop that carries out the replay of the journal: at the start, and whenever a send could not be stored. */
import type { Logger } from '../app/ports.ts';
import { replayJournal, type ReplayPorts } from '../app/replay-journal.ts';

/** How often to look whether a replay is due, in ms: the database has been back for no longer than this. */
const INTERVAL_MS = 1000;

export interface Loop {
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

export function startJournalReplayer(ports: ReplayPorts, logger: Logger): Loop {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let round = Promise.resolve();

  const next = (delayMs: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      round = run();
    }, delayMs);
  };

  async function run(): Promise<void> {
    try {
      if (ports.pending.takeReplayRequest()) await replayJournal(ports);
    } catch (err) {
      ports.pending.needsReplay();
      logger.error({ err }, 'the replay of the journal failed');
    }
    next(INTERVAL_MS);
  }

  next(0);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
