/**
 * `ReportStore` on PostgreSQL. A report is applied in one transaction, which locks the report, then the queue row, then
 * the email (as send-states.ts asks for), and the list of suppressions last.
 */
import type { Pool, PoolClient } from 'pg';
import { type RecordedReport, concludeReport, postponeReport } from '../send/report-rows.ts';
import type { BounceRecipient } from '../../core/delivery/bounce-recipient.ts';
import {
  deliveryAddressKey,
  isFinalFailure,
  matchReport,
  type MatchedReport,
  type ReportedDelivery,
} from '../../core/delivery/delivery-report.ts';
import { conclude, isOpen } from '../../core/delivery/conclude.ts';
import { MAX_SUPPRESSED_CHARS, SOFT_BOUNCES, suppressionBy } from '../../core/delivery/suppression.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';
import { lockEmailRow } from '../emails/write-emails.ts';
import { applyConclusion, lockQueueRow } from '../send/queue-rows.ts';
import { rejectRecipients } from '../send/send-states.ts';
import { suppressByReport } from '../send/suppression-store.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import type { EmailState } from '../../core/delivery/states.ts';

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

export function createReportStore(pool: Pool): ReportStore {
  return {
    async dueReports(limit) {
      return (await run(pool, DUE, { limit })).map((row) => row.report_id);
    },

    async findReportedEmail(reportId) {
      const [row] = await run(pool, FIND_REPORTED, { reportId });
      return row ?? null;
    },

    applyReport: (reportId, emailId) => inTransaction(pool, (client) => apply(client, reportId, emailId)),

    postponeReport: (reportId) => postponeReport(pool, reportId),
  };
}

const DUE = statement(
  'due-reports',
  'select report_id from bounce_reports where next_match_at <= now() order by next_match_at limit $limit',
);

async function apply(client: PoolClient, reportId: string, emailId: string): Promise<number> {
  const reports = await run(client, LOCK_REPORT, { reportId });
  const [report] = reports;
  // Another process has applied it.
  if (report === undefined) return 0;
  const queueRow = await lockQueueRow(client, emailId);
  await lockEmailRow(client, emailId);
  const email = await readTimes(client, emailId);
  const deliveries = await run(client, READ_DELIVERIES, { emailId });
  const matched = matchReport(report, deliveries);
  // No report is older than the email that it is about.
  const reportedAt = new Date(Math.max(report.reported_at.getTime(), email.recorded_at.getTime()));
  await insertDeliveryReports(client, { reportId, emailId, reportedAt, matched });
  await concludeReport(client, reportId, matched.length === 0 ? null : emailId, reportedAt);
  const failed = matched.filter(({ outcome, delivery }) => isFinalFailure(outcome) && isOpen(delivery.state));
  if (failed.length > 0) await giveUp(client, emailId, failed, deliveries, queueRow?.owner === null);
  for (const one of report.suppresses ? matched : []) {
    await suppress(client, one, { reportId, emailId, reportedAt, sentAt: email.sent_at });
  }
  return matched.length;
}

const LOCK_REPORT = statement(
  'lock-report',
  `select r.account_id, r.kind, r.format, r.recipients, r.reported_at, r.suppresses,
    array_remove(array[e.from_address ->> 'address', e.sender_address ->> 'address'], null) as "sentBy"
  from bounce_reports r join emails e on e.id = r.report_id
  where r.report_id = $reportId and r.next_match_at is not null for update of r`,
).narrow<{ format: RecordedReport['format']; recipients: BounceRecipient[]; sentBy: string[] }>();

const READ_DELIVERIES = statement(
  'read-deliveries',
  'select ordinal, address, state from email_deliveries where email_id = $emailId order by ordinal',
);

/** The moment when an email `e` was recorded, or sent by another program, in which case it is recorded later. */
const RECORDED_AT = `case when e.identity_key is null then e.created_at else least(e.date, e.created_at) end`;

/** The moment when an email `e` was last handed over; the record of a hand-over that did not wait in the queue is made right after it. */
const SENT_AT = `greatest(
  ${RECORDED_AT}, (select max(a.started_at) from delivery_attempts a where a.email_id = e.id)
)`;

async function readTimes(client: PoolClient, emailId: string): Promise<RowOf<typeof READ_TIMES>> {
  const [row] = await run(client, READ_TIMES, { emailId });
  if (row === undefined) throw new Error('a reported email is gone');
  return row;
}

const READ_TIMES = statement(
  'read-times-of-reported-email',
  `select ${RECORDED_AT} as recorded_at, ${SENT_AT} as sent_at from emails e where e.id = $emailId`,
).narrow<{ recorded_at: Date; sent_at: Date }>();

interface Matched {
  readonly reportId: string;
  readonly emailId: string;
  readonly reportedAt: Date;
  readonly matched: readonly MatchedReport[];
}

async function insertDeliveryReports(
  client: PoolClient,
  { reportId, emailId, reportedAt, matched }: Matched,
): Promise<void> {
  const rows = matched.map(({ delivery, outcome, recipient }) => ({
    ordinal: delivery.ordinal,
    address: deliveryAddressKey(delivery.address),
    outcome,
    status: recipient.status,
    diagnostic: recipient.diagnostic,
  }));
  await run(client, INSERT_DELIVERY_REPORTS, { reportId, emailId, reportedAt, rows: toStorableJson(rows) });
}

const INSERT_DELIVERY_REPORTS = statement(
  'insert-delivery-reports',
  `insert into delivery_reports
    (email_id, ordinal, report_id, address, outcome, status, diagnostic, reported_at)
  select $emailId::uuid, r.ordinal, $reportId::uuid, r.address, r.outcome, r.status, r.diagnostic, $reportedAt::timestamptz
  from jsonb_to_recordset($rows::jsonb) as r (ordinal int, address text, outcome text, status text, diagnostic text)
  on conflict do nothing`,
);

/**
 * A recipient that bounced is not retried automatically. If a process works on it, or did when it fell silent, only the failure is noted:
 * settling that attempt concludes with it (saveOutcomes lets the failure stand).
 */
async function giveUp(
  client: PoolClient,
  emailId: string,
  failed: readonly MatchedReport[],
  deliveries: readonly ReportedDelivery[],
  isWaiting: boolean,
): Promise<void> {
  const ordinals = new Set(failed.map(({ delivery }) => delivery.ordinal));
  await rejectRecipients(client, emailId, [...ordinals]);
  const states = deliveries.map(({ ordinal, state }) => (ordinals.has(ordinal) ? 'rejected' : state));
  if (!isWaiting || states.some(isOpen)) return;
  await applyConclusion(client, emailId, conclude(states, 'a delivery report came back', null));
}

async function suppress(
  client: PoolClient,
  { delivery, outcome, recipient }: MatchedReport,
  report: {
    readonly reportId: string;
    readonly emailId: string;
    readonly reportedAt: Date;
    readonly sentAt: Date;
  },
): Promise<void> {
  const { reportId, emailId, reportedAt } = report;
  const address = deliveryAddressKey(delivery.address);
  if (address.length > MAX_SUPPRESSED_CHARS) return;
  const reason =
    outcome === 'bounced_soft' && (await isLastStraw(client, address))
      ? 'repeated_soft_bounces'
      : suppressionBy(outcome);
  if (reason === null) return;
  await suppressByReport(client, {
    address,
    reason,
    since: reportedAt,
    status: recipient.status,
    diagnostic: recipient.diagnostic,
    emailId,
    reportId,
    // A complaint is about us, at the moment when it is made; a bounce shows the state of the address when we sent.
    evidenceAt: outcome === 'complained' ? reportedAt : report.sentAt,
  });
}

/** See SOFT_BOUNCES; emails that were sent before the suppression was lifted do not count. */
async function isLastStraw(client: PoolClient, address: string): Promise<boolean> {
  const [row] = await run(client, IS_LAST_STRAW, { address, ...SOFT_BOUNCES });
  return row?.is_last_straw === true;
}

const IS_LAST_STRAW = statement(
  'is-last-straw',
  `select count(distinct r.email_id) >= $emails
    and max(r.reported_at) - min(r.reported_at) >= make_interval(days => $spanDays) as is_last_straw
  from delivery_reports r join emails e on e.id = r.email_id
  where r.address = $address and r.outcome = 'bounced_soft' and r.reported_at > now() - make_interval(days => $windowDays)
    and exists (select from bounce_reports b where b.report_id = r.report_id and b.suppresses)
    and r.reported_at > coalesce(
      (select max(reported_at) from delivery_reports where address = $address and outcome = 'delivered'), '-infinity')
    and ${SENT_AT} > coalesce((select lifted_at from suppressions where address = $address), '-infinity')`,
);

/** The first of the report's Message-IDs that belongs to a sent email of its account decides. */
const FIND_REPORTED = statement(
  'find-reported-email',
  `select e.id, e.state
  from bounce_reports r
  cross join lateral unnest(r.message_ids) with ordinality as named (message_id, place)
  cross join lateral (
    select id, state from emails
    where account_id = r.account_id and direction = 'outbound'
      and (message_id = named.message_id or relay_message_id = named.message_id)
    order by id limit 1
  ) e
  where r.report_id = $reportId
  order by named.place limit 1`,
);
