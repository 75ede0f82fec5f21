/**
 * Writes `bounce_reports`; only this module does: the data of each report about sent emails, so that it can be matched again when the sent
 * email is recorded after it.
 */
import type { Bounce } from '../../core/delivery/bounce.ts';
import { isUnguessable } from '../../core/message/message-id.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** A report as it is recorded with its email. */
export type RecordedReport = Bounce & {
  readonly reportedAt: Date;
  /** False: it counts for its email alone, and suppresses no address, which would concern all accounts. Default: true. */
  readonly suppresses?: boolean;
};

/** A report is retried for as long as a send may be recorded late: one node may be away for that long. */
const MATCH_FOR_DAYS = 30;
/** Bounds of the pause, in seconds; it doubles with the age of the report. */
const MIN_MATCH_PAUSE_S = 5;
const MAX_MATCH_PAUSE_S = 600;

export const toReportRow = (report: RecordedReport) => ({
  kind: report.kind,
  format: report.format,
  message_ids: report.originalMessageIds.filter(isUnguessable),
  recipients: report.recipients,
  reported_at: report.reportedAt,
  suppresses: report.suppresses ?? true,
});

/**
 * As a part of a statement: records reports with the emails that contain them.
 *
 * @param source rows `r` with id, account_id, report as toReportRow makes it
 */
export const insertReports = (source: string): string => `
  insert into bounce_reports
    (report_id, account_id, kind, format, message_ids, recipients, suppresses, reported_at, next_match_at)
  select g.id, g.account_id, b.kind, b.format, b.message_ids, b.recipients, b.suppresses, least(b.reported_at, now()),
    case when b.message_ids <> '{}' then now() end
  from (select r.id, r.account_id, r.report from ${source}) g,
    jsonb_to_record(g.report)
      as b (kind text, format text, message_ids text[], recipients jsonb, suppresses boolean, reported_at timestamptz)
  on conflict do nothing`;

/** Adds a report for an email that was recorded before, and turned out to be one. */
export async function addReport(
  executor: Executor,
  id: string,
  accountId: string,
  report: RecordedReport,
): Promise<void> {
  await run(executor, ADD, { id, accountId, report: toStorableJson(toReportRow(report)) });
}

const ADD = statement(
  'add-report',
  insertReports('(select $id::uuid as id, $accountId::text as account_id, $report::jsonb as report) r'),
);

/** @param emailId the email that the report is about; null when it had none of the recipients */
export async function concludeReport(
  executor: Executor,
  reportId: string,
  emailId: string | null,
  reportedAt: Date,
): Promise<void> {
  await run(executor, CONCLUDE, { reportId, emailId, reportedAt });
}

const CONCLUDE = statement(
  'conclude-report',
  `update bounce_reports set next_match_at = null, email_id = $emailId, reported_at = $reportedAt
  where report_id = $reportId`,
);

/** See `ReportStore.postponeReport`. */
export async function postponeReport(executor: Executor, reportId: string): Promise<void> {
  await run(executor, POSTPONE, {
    reportId,
    forDays: MATCH_FOR_DAYS,
    minPauseS: MIN_MATCH_PAUSE_S,
    maxPauseS: MAX_MATCH_PAUSE_S,
  });
}

const POSTPONE = statement(
  'postpone-report',
  `update bounce_reports set next_match_at = case
      when created_at < now() - make_interval(days => $forDays) and clock_is_certain() then null
      else now() + least(
        greatest(now() - created_at, make_interval(secs => $minPauseS)), make_interval(secs => $maxPauseS)
      )
    end
  where report_id = $reportId and next_match_at is not null`,
);

/** Has reports matched again that were matched to one of these emails, which are records of copies and end. */
export async function matchReportsAgain(executor: Executor, emailIds: readonly string[]): Promise<void> {
  await run(executor, MATCH_AGAIN, { emailIds });
}

const MATCH_AGAIN = statement(
  'match-reports-again',
  'update bounce_reports set email_id = null, next_match_at = now() where email_id = any($emailIds::uuid[])',
);
