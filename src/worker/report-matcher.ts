/** The loop that applies reports whose email was not known when they came in. */
import { applyDueReports, type ApplyReportsPorts } from '../app/receive/apply-reports.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 5000;

export function startReportMatcher(ports: ApplyReportsPorts): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'delivery reports could not be matched; trying again',
    logger: ports.logger,
    run: () => applyDueReports(ports),
  });
}
