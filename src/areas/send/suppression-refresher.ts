/** The loop that brings this process's copy of the suppression list up to date when the list has changed. */
import type { SuppressionList } from './suppressions.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds, in ms. */
const INTERVAL_MS = 500;

export function startSuppressionRefresher(list: Pick<SuppressionList, 'refresh'>, logger: Logger): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'the suppression list can not be refreshed; the copy stays in use as it is',
    logger,
    run: () => list.refresh(),
  });
}
