/** The loop that applies reports whose email was not known when they arrived. */
import { applyDueReports, type ApplyReportsPorts } from './apply-reports.ts';
import { startLoop, type WokenLoop } from '../../platform/base/loop.ts';

/** The minimum between two rounds. */
const INTERVAL_MS = 5000;

export function startReportMatcher(ports: ApplyReportsPorts): WokenLoop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    waitsForWake: true,
    failure: 'delivery reports could not be matched; trying again',
    logger: ports.logger,
    run: () => applyDueReports(ports),
  });
}
