/** The loop that links past mail by rules learned from sends, and mail that was recorded while rules changed. */
import type { CustomerLinker } from './customer-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds: another process may be changing the rules, and the emails then have to wait. */
const INTERVAL_MS = 1000;

export function startCustomerLinker(linker: CustomerLinker, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'past mail could not be linked to its customers; it is tried every second',
    logger,
    async run(signal) {
      while (!signal.aborted && (await linker.linkSome()));
    },
  });
}
