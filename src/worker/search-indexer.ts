/** The loop that makes new and changed emails searchable. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../app/base/basics.ts';
import type { SearchIndex } from '../app/search/search-ports.ts';
import { ServiceError } from '../core/errors.ts';
import { startLoop, type Loop } from './loop.ts';

/** How often to look, in ms: an email is found within a second. */
const INTERVAL_MS = 500;

/** Pauses after a batch, in multiples of the time it took. */
const RESTS = 1;
const RESTS_WHEN_BUSY = 9;

export function startSearchIndexer(index: SearchIndex, logger: Logger): Loop {
  const stop = new AbortController();
  let isAway = false;
  const loop = startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'emails could not be made searchable',
    logger,
    async run() {
      try {
        while (!stop.signal.aborted) {
          const started = performance.now();
          const { count, isBusy } = await index.indexSome();
          if (count === 0) break;
          // Sends and received emails go first; what they left waiting is caught up with when they are fewer.
          const restMs = (performance.now() - started) * (isBusy ? RESTS_WHEN_BUSY : RESTS);
          // A slow batch would make the stop wait for a long rest.
          await wait(restMs, undefined, { signal: stop.signal }).catch(() => undefined);
        }
        isAway = false;
      } catch (error) {
        // An unavailable database is worth one line, not two each second.
        const isKnown = isAway && error instanceof ServiceError && error.temporary;
        isAway = true;
        if (!isKnown) throw error;
      }
    },
  });
  return {
    stop() {
      stop.abort();
      return loop.stop();
    },
  };
}
