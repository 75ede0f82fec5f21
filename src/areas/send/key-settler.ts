/** The loop that settles open idempotency keys: at the start, when one is left open, and once in a while anyway. */
import type { Logger } from '../../platform/base/basics.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import type { KeyWork } from './idempotency.ts';
import type { Loop } from '../../platform/base/loop.ts';
import { startSettler } from './settler.ts';

export function startKeySettler(
  work: Pick<KeyWork, 'takeSettlingRequest' | 'needsSettling'>,
  settle: () => Promise<void>,
  logger: Logger,
  timers: Timers = systemTimers,
): Loop {
  return startSettler({
    takeRequest: work.takeSettlingRequest,
    settle,
    askAgain: work.needsSettling,
    failure: 'idempotency keys could not be settled',
    logger,
    timers,
  });
}
