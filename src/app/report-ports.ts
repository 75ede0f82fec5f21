/** What reports about sent emails, and the addresses they suppress, need from the database. */
import type { Bounce } from '../core/delivery/bounce.ts';
import type { EmailState } from '../core/delivery/states.ts';
import type { Suppression, SuppressionReason } from '../core/delivery/suppression.ts';

/** A report as it is recorded with the email that it is. */
export type RecordedReport = Bounce & { readonly reportedAt: Date };

/** What a report was found to be about. */
export interface ReportedEmail {
  readonly id: string;
  readonly state: EmailState;
}

/** All throw `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface ReportStore {
  /** Reports that are to be looked at now, the longest due first; at most `limit`. */
  dueReports(limit: number): Promise<readonly string[]>;
  /** The sent email that bears the surest known one of the report's Message-IDs; null when there is none (yet). */
  findReportedEmail(reportId: string): Promise<ReportedEmail | null>;
  /**
   * Stores what the report says about that email's recipients, takes them out of the queue when it says that they
   * failed, and suppresses addresses. Whole or not at all; a repeat changes nothing. Returns how many it was about.
   */
  applyReport(reportId: string, emailId: string): Promise<number>;
  /** The email is not known: looks again later, ever less often, and gives up in the end. */
  postponeReport(reportId: string): Promise<void>;
}

/** One change of the list. */
export interface SuppressionChange {
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly since: Date;
  /** False: lifted. */
  readonly active: boolean;
  readonly version: number;
}

export interface SuppressionsQuery {
  /** As deliveryAddressKey gives it. */
  readonly address: string | null;
  readonly reason: SuppressionReason | null;
  readonly limit: number;
  /** `version` of the last one of the page before; null for the first page. */
  readonly before: number | null;
}

/** An entry of the list, and what orders it: the newest change comes first. */
export type ListedSuppression = Suppression & { readonly version: number };

/** Throws `ServiceError('database_unavailable')` like `ReportStore`. Addresses are as deliveryAddressKey gives them. */
export interface SuppressionStore {
  /** Those of the addresses that are on the list now. */
  findSuppressed(addresses: readonly string[]): Promise<readonly Suppression[]>;
  listSuppressions(query: SuppressionsQuery): Promise<readonly ListedSuppression[]>;
  /** Adds it as `manual`; one that is on the list for another reason gets this one. */
  suppress(address: string, note: string | null): Promise<Suppression>;
  /** null when it is not on the list. */
  lift(address: string): Promise<{ readonly liftedAt: Date } | null>;
  /** Everything that changed after that version, in order; at most `limit`. 0 for all. */
  changesAfter(version: number, limit: number): Promise<readonly SuppressionChange[]>;
}
