/** The loop that links past mail by what sends taught, and mail that was recorded while rules changed. */
import type { CustomerSettler } from '../app/customers/customer-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 1000;

export function startCustomerSettler(settler: CustomerSettler, logger: Logger): Loop {
  const stopping = new AbortController();
  let failed = false;
  const loop = startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'past mail could not be linked to its customers; it is tried every second',
    logger,
    async run() {
      try {
        while (!stopping.signal.aborted && (await settler.settleSome()));
        failed = false;
      } catch (error) {
        // Logged once until it works again: the database may be unavailable for hours.
        if (failed) return;
        failed = true;
        throw error;
      }
    },
  });
  return {
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}
