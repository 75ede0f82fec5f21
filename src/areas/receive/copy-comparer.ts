/** The loop that compares sent emails with copies that were recorded before them. */
import { compareDueCopies, type CompareCopiesPorts } from './variants.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds: copies that can't be compared yet are due again at once. */
const INTERVAL_MS = 5000;

export function startCopyComparer(
  ports: CompareCopiesPorts & { readonly requireStorage: () => Promise<void> },
): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'copies of sent emails could not be compared; trying again',
    logger: ports.logger,
    async run() {
      // Copies that turn out to be the same are deleted.
      await ports.requireStorage();
      await compareDueCopies(ports);
    },
  });
}
