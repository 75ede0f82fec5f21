/** The loop that compares sent emails with copies that were recorded before them. */
import { compareDueCopies, type CompareCopiesPorts } from '../app/receive/variants.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 5000;

export function startCopyComparer(ports: CompareCopiesPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'copies of sent emails could not be compared; trying again',
    logger: ports.logger,
    run: () => compareDueCopies(ports),
  });
}
