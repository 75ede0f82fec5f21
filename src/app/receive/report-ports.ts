/** The database operations that reports about sent emails, and the addresses that they suppress, need. */
import type { Bounce } from '../../core/delivery/bounce.ts';
import type { EmailState } from '../../core/delivery/states.ts';

/** A report as it is recorded with its email. */
export type RecordedReport = Bounce & {
  readonly reportedAt: Date;
  /** False: it counts for its email alone, and suppresses no address, which would concern all accounts. Default: true. */
  readonly suppresses?: boolean;
};

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
   * Stores the report's results for that email's recipients, takes recipients that failed out of the queue, and
   * suppresses addresses. Whole or not at all; a repeat changes nothing. Returns the number of recipients that it was
   * about.
   */
  applyReport(reportId: string, emailId: string): Promise<number>;
  /** The email is not known: the report is retried later, at growing intervals, and finally given up. */
  postponeReport(reportId: string): Promise<void>;
}
