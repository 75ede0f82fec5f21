/** What reports about sent emails, and the addresses they suppress, need from the database. */
import type { Bounce } from '../../core/delivery/bounce.ts';
import type { EmailState } from '../../core/delivery/states.ts';

/** A report as it is recorded with the email that it is. */
export type RecordedReport = Bounce & { readonly reportedAt: Date };

/** The email that a report was found to be about. */
export interface ReportedEmail {
  readonly id: string;
  readonly state: EmailState;
}

/** All throw `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface ReportStore {
  /** Reports that are due for a try now, the longest due first; at most `limit`. */
  dueReports(limit: number): Promise<readonly string[]>;
  /** The sent email with the surest known one of the report's Message-IDs; null when there is none (yet). */
  findReportedEmail(reportId: string): Promise<ReportedEmail | null>;
  /**
   * Stores what the report says about that email's recipients, takes them out of the queue when it says that they
   * failed, and suppresses addresses. Whole or not at all; a repeat changes nothing. Returns how many it was about.
   */
  applyReport(reportId: string, emailId: string): Promise<number>;
  /** The email is not known: the report is retried later, ever less often, and given up in the end. */
  postponeReport(reportId: string): Promise<void>;
}
