/** The loop that makes new and changed emails searchable. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../platform/base/basics.ts';
import type { SearchIndex } from './search-index.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds, in ms: another process may be working on the waiting emails. */
const INTERVAL_MS = 500;

/** Pauses after a batch, in multiples of the time that the batch took. */
const RESTS = 1;
const RESTS_WHEN_BUSY = 9;

export function startSearchIndexer(index: SearchIndex, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'emails could not be made searchable',
    logger,
    async run(signal) {
      while (!signal.aborted) {
        const started = performance.now();
        const { count, isBusy } = await index.indexSome();
        if (count === 0) break;
        // Sends and received emails go first; the backlog is worked off when there are fewer of them.
        const restMs = (performance.now() - started) * (isBusy ? RESTS_WHEN_BUSY : RESTS);
        // Abortable: after a slow batch, the stop would otherwise wait for a long rest.
        await wait(restMs, undefined, { signal }).catch(() => undefined);
      }
    },
  });
}
