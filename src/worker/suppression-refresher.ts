/** The loop that keeps this process's copy of the suppression list fresh. */
import type { SuppressionList } from '../app/send/suppressions.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

/** With the time of one small query, every process knows of a change within a second. */
const INTERVAL_MS = 500;

export function startSuppressionRefresher(list: Pick<SuppressionList, 'refresh'>, logger: Logger): Loop {
  let away = false;
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'the suppression list could not be refreshed',
    logger,
    async run() {
      try {
        await list.refresh();
        away = false;
      } catch (err) {
        // Once is enough: it is asked again twice a second.
        if (!away)
          logger.warn({ err }, 'the suppression list can not be refreshed; the copy stays in use as it is');
        away = true;
      }
    },
  });
}
