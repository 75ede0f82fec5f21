/** The loops of the audit log: one writes the counted refusals, one deletes entries that are no longer kept. */
import type { AuditLog } from '../../platform/access/audit-ports.ts';
import type { AccessLogWriter } from '../../platform/access/access-log.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { RequireTime } from '../../platform/base/clock-guard.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

const WRITE_INTERVAL_MS = 60_000;
const FORGET_INTERVAL_MS = 3_600_000;
/** Entries deleted by one transaction: some milliseconds. */
const BATCH = 1000;

export function startRefusalWriter(refusals: Pick<AccessLogWriter, 'write'>, logger: Logger): Loop {
  return startLoop({
    intervalMs: WRITE_INTERVAL_MS,
    failure: 'refused log-ins could not be written to the audit log; they are kept for the next try',
    logger,
    run: () => refusals.write(),
  });
}

export interface AuditKeeperPorts {
  readonly log: Pick<AuditLog, 'forget'>;
  readonly requireTime: RequireTime;
  readonly logger: Logger;
  /** The number of whole days that entries are kept. */
  readonly auditDays: number;
}

export function startAuditKeeper({ log, requireTime, logger, auditDays }: AuditKeeperPorts): Loop {
  return startLoop({
    intervalMs: FORGET_INTERVAL_MS,
    failure: 'old entries of the audit log could not be deleted; the next try is in an hour',
    logger,
    async run(signal) {
      let forgotten = BATCH;
      while (!signal.aborted && forgotten === BATCH) {
        await requireTime();
        forgotten = await log.forget(auditDays, BATCH);
      }
    },
  });
}
