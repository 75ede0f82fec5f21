/**
 * `ReportStore` on PostgreSQL. A report is applied in one transaction, which locks the report, then the queue row, then
 * the email (as send-states.ts asks for), and the list of suppressions last.
 */
import { CompiledQuery, type Transaction } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { RecordedReport, ReportedEmail, ReportStore } from '../../../app/receive/report-ports.ts';
import type { BounceRecipient } from '../../../core/delivery/bounce-recipient.ts';
import {
  deliveryAddressKey,
  isFinalFailure,
  matchReport,
  type MatchedReport,
  type ReportedDelivery,
} from '../../../core/delivery/delivery-report.ts';
import { isUnguessable } from '../../../core/message/message-id.ts';
import { conclude, isOpen } from '../../../core/delivery/conclude.ts';
import type { DeliveryState } from '../../../core/delivery/states.ts';
import { MAX_SUPPRESSED_CHARS, SOFT_BOUNCES, suppressionBy } from '../../../core/delivery/suppression.ts';
import type { Database } from '../db/database.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { applyConclusion, lockQueueRow } from '../send/queue-rows.ts';
import { rejectRecipients } from '../send/send-states.ts';
import { suppressByReport } from '../send/suppressions.ts';
import { inTransaction } from '../db/transaction.ts';

/** A report is retried as long as a send may be recorded late: one node may be away for that long. */
const MATCH_FOR_DAYS = 30;
/** The pause doubles with the age of the report, between these, in seconds. */
const MIN_MATCH_PAUSE_S = 5;
const MAX_MATCH_PAUSE_S = 600;

export function createReportStore(pool: Pool): ReportStore {
  const query = createNamedQuery(pool);
  return {
    async dueReports(limit) {
      const rows = await query<{ report_id: string }>(
        'due-reports',
        `select report_id from bounce_reports where next_match_at <= now() order by next_match_at limit $1`,
        [limit],
      );
      return rows.map((row) => row.report_id);
    },

    async findReportedEmail(reportId) {
      const [row] = await query<ReportedEmail>('find-reported-email', FIND_REPORTED, [reportId]);
      return row ?? null;
    },

    applyReport: (reportId, emailId) => inTransaction(pool, (client) => apply(client, reportId, emailId)),

    async postponeReport(reportId) {
      await query('postpone-report', POSTPONE, [
        reportId,
        MIN_MATCH_PAUSE_S,
        MAX_MATCH_PAUSE_S,
        MATCH_FOR_DAYS,
      ]);
    },
  };
}

/** Records what was read from a report with the email that it is. */
export async function insertReport(
  trx: Transaction<Database>,
  reportId: string,
  accountId: string,
  report: RecordedReport,
): Promise<void> {
  await trx.executeQuery(
    CompiledQuery.raw(
      `insert into bounce_reports
        (report_id, account_id, kind, format, message_ids, recipients, reported_at, next_match_at)
      values ($1, $2, $3, $4, $5, $6, least($7::timestamptz, now()), case when $5 = '{}'::text[] then null else now() end)
      on conflict do nothing`,
      [
        reportId,
        accountId,
        report.kind,
        report.format,
        report.originalMessageIds.filter(isUnguessable),
        JSON.stringify(report.recipients),
        report.reportedAt,
      ],
    ),
  );
}

interface ReportRow {
  account_id: string;
  kind: RecordedReport['kind'];
  format: RecordedReport['format'];
  sentBy: string[];
  recipients: BounceRecipient[];
  reported_at: Date;
}

interface DeliveryRow {
  ordinal: number;
  address: string;
  state: DeliveryState;
}

interface EmailTimes {
  recorded_at: Date;
  sent_at: Date;
}

async function apply(client: PoolClient, reportId: string, emailId: string): Promise<number> {
  const { rows: reports } = await client.query<ReportRow>(
    `select r.account_id, r.kind, r.format, r.recipients, r.reported_at,
      array_remove(array[e.from_address ->> 'address', e.sender_address ->> 'address'], null) as "sentBy"
    from bounce_reports r join emails e on e.id = r.report_id
    where r.report_id = $1 and r.next_match_at is not null for update of r`,
    [reportId],
  );
  const [report] = reports;
  // Another process did it.
  if (report === undefined) return 0;
  const queueRow = await lockQueueRow(client, emailId);
  const email = await lockEmail(client, emailId);
  const { rows: deliveries } = await client.query<DeliveryRow>(
    'select ordinal, address, state from email_deliveries where email_id = $1 order by ordinal',
    [emailId],
  );
  const matched = matchReport(report, deliveries);
  // No report is older than what it is about.
  const reportedAt = new Date(Math.max(report.reported_at.getTime(), email.recorded_at.getTime()));
  await insertDeliveryReports(client, { reportId, emailId, reportedAt, matched });
  await client.query(
    'update bounce_reports set next_match_at = null, email_id = $2, reported_at = $3 where report_id = $1',
    [reportId, matched.length === 0 ? null : emailId, reportedAt],
  );
  const failed = matched.filter(({ outcome, delivery }) => isFinalFailure(outcome) && isOpen(delivery.state));
  if (failed.length > 0) await giveUp(client, emailId, failed, deliveries, queueRow?.owner === null);
  for (const one of matched) {
    await suppress(client, one, { reportId, emailId, reportedAt, sentAt: email.sent_at });
  }
  return matched.length;
}

async function lockEmail(client: PoolClient, emailId: string): Promise<EmailTimes> {
  await client.query('select 1 from emails where id = $1 for update', [emailId]);
  const { rows } = await client.query<EmailTimes>(
    `select ${RECORDED_AT} as recorded_at, ${SENT_AT} as sent_at from emails e where e.id = $1`,
    [emailId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a reported email is gone');
  return row;
}

async function insertDeliveryReports(
  client: PoolClient,
  {
    reportId,
    emailId,
    reportedAt,
    matched,
  }: {
    readonly reportId: string;
    readonly emailId: string;
    readonly reportedAt: Date;
    readonly matched: readonly MatchedReport[];
  },
): Promise<void> {
  await client.query(
    `insert into delivery_reports
      (email_id, ordinal, report_id, address, outcome, status, diagnostic, reported_at)
    select $1, r.ordinal, $2, r.address, r.outcome, r.status, r.diagnostic, $3
    from jsonb_to_recordset($4::jsonb) as r (ordinal int, address text, outcome text, status text, diagnostic text)
    on conflict do nothing`,
    [
      emailId,
      reportId,
      reportedAt,
      JSON.stringify(
        matched.map(({ delivery, outcome, recipient }) => ({
          ordinal: delivery.ordinal,
          address: deliveryAddressKey(delivery.address),
          outcome,
          status: recipient.status,
          diagnostic: recipient.diagnostic,
        })),
      ),
    ],
  );
}

/**
 * A recipient that bounced is not retried automatically. While a process works on it, or did when it fell silent, only
 * the failure is noted: settling that attempt concludes with it (saveOutcomes lets the failure stand).
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
    // A complaint is about us, at the moment it is made; a bounce tells how the address was when we sent.
    evidenceAt: outcome === 'complained' ? reportedAt : report.sentAt,
  });
}

/** See SOFT_BOUNCES; what was sent before the address was lifted does not count. */
async function isLastStraw(client: PoolClient, address: string): Promise<boolean> {
  const { rows } = await client.query<{ is_last_straw: boolean }>(
    `select count(distinct r.email_id) >= $2
      and max(r.reported_at) - min(r.reported_at) >= make_interval(days => $3) as is_last_straw
    from delivery_reports r join emails e on e.id = r.email_id
    where r.address = $1 and r.outcome = 'bounced_soft' and r.reported_at > now() - make_interval(days => $4)
      and r.reported_at > coalesce(
        (select max(reported_at) from delivery_reports where address = $1 and outcome = 'delivered'), '-infinity')
      and ${SENT_AT} > coalesce((select lifted_at from suppressions where address = $1), '-infinity')`,
    [address, SOFT_BOUNCES.emails, SOFT_BOUNCES.spanDays, SOFT_BOUNCES.windowDays],
  );
  return rows[0]?.is_last_straw === true;
}

/** When an email `e` was recorded, or sent by another program, which is recorded later. */
const RECORDED_AT = `case when e.identity_key is null then e.created_at else least(e.date, e.created_at) end`;

/** When an email `e` was handed over last; its record is made right after a hand-over that did not wait in the queue. */
const SENT_AT = `greatest(
  ${RECORDED_AT}, (select max(a.started_at) from delivery_attempts a where a.email_id = e.id)
)`;

/** The first of the report's Message-IDs that a sent email of its account bears decides. */
const FIND_REPORTED = `
  select e.id, e.state
  from bounce_reports r
  cross join lateral unnest(r.message_ids) with ordinality as named (message_id, place)
  cross join lateral (
    select id, state from emails
    where account_id = r.account_id and direction = 'outbound'
      and (message_id = named.message_id or relay_message_id = named.message_id)
    order by id limit 1
  ) e
  where r.report_id = $1
  order by named.place limit 1`;

/** $2 and $3 shortest and longest pause in s, $4 for how many days. */
const POSTPONE = `
  update bounce_reports set next_match_at = case
      when created_at < now() - make_interval(days => $4) then null
      else now() + least(greatest(now() - created_at, make_interval(secs => $2)), make_interval(secs => $3))
    end
  where report_id = $1 and next_match_at is not null`;
