/**
 * Applies reports about sent emails: right after a report is recorded, and later for reports whose email was not known
 * then, because it was being recorded, or waited in a journal. Every step may be repeated.
 */
import type { Logger } from '../../platform/base/basics.ts';
import type { ReportStore } from './delivery-reports.ts';

export interface ApplyReportsPorts {
  readonly reports: ReportStore;
  /** The sent email certainly went out; does nothing unless its outcome is unknown. */
  readonly settleUnknown: (emailId: string, evidence: string) => Promise<void>;
  /** Called when addresses may have been suppressed; never rejects. */
  readonly onApplied: () => Promise<void>;
  readonly logger: Logger;
}

/** Reports of one round. */
const BATCH = 100;

/** Throws `database_unavailable`; the report is then applied later. */
export async function applyReport(ports: ApplyReportsPorts, reportId: string): Promise<void> {
  const { reports } = ports;
  const email = await reports.findReportedEmail(reportId);
  if (email === null) {
    await reports.postponeReport(reportId);
    return;
  }
  // The Message-ID can't be guessed, so a report that names it proves that the email went out.
  if (email.state === 'unknown') {
    await ports.settleUnknown(email.id, `a delivery report came back: ${reportId}`);
  }
  const count = await reports.applyReport(reportId, email.id);
  if (count > 0) await ports.onApplied();
}

/** Applies the reports that are due. One that fails does not stop the others. */
export async function applyDueReports(ports: ApplyReportsPorts): Promise<void> {
  for (;;) {
    const due = await ports.reports.dueReports(BATCH);
    for (const reportId of due) {
      try {
        await applyReport(ports, reportId);
      } catch (err) {
        ports.logger.error({ err, emailId: reportId }, 'a delivery report could not be applied yet');
        await ports.reports.postponeReport(reportId);
      }
    }
    if (due.length < BATCH) return;
  }
}
