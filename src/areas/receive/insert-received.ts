/** Writes received emails and Sent copies whose threads exist and are locked: any number of them in one statement. */
import type { MessageIdentity } from '../../core/message/identity.ts';
import type { InboundRecord } from './inbound-ports.ts';
import type { AbsenceRequest } from '../absence/absence-ports.ts';
import { ABSENCE_COLUMNS, insertAbsenceRequests } from '../absence/absence-store.ts';
import { markToRelink } from '../customers/customer-links.ts';
import { relinkCustomersOf } from '../customers/relink-customers.ts';
import { RecordedMeanwhile } from '../../platform/db/linking-transaction.ts';
import { call, run, statements, type Executor } from '../../platform/db/statement.ts';
import type { PlannedTransaction } from '../../platform/db/transaction.ts';
import {
  emailRecords,
  LONG_TEXTS,
  NEW_COLUMNS,
  RawMessages,
  toEmailRow,
  type EmailContent,
} from '../emails/email-row.ts';
import type { LongTexts } from '../emails/long-texts.ts';
import { addedOf, insertEmailRows, isEmailKnown } from '../emails/write-emails.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { insertRecipients } from '../send/send-states.ts';
import { insertReports, toReportRow } from '../send/report-rows.ts';
import type { PlacedRecord, ReceivedLink } from './link-received.ts';
import { SENT_COPY_DETAIL, takersOf } from './sent-copies.ts';

/** The current reading of a message. */
export type Reading = Omit<
  InboundRecord,
  | 'id'
  | 'accountId'
  | 'isSentCopy'
  | 'isRead'
  | 'newThreadId'
  | 'bySubject'
  | 'raw'
  | 'rawPath'
  | 'rawSizeBytes'
  | 'receivedBy'
  | 'authentication'
> & { readonly identity: MessageIdentity };

/** Works in a transaction of any kind. Throws RecordedMeanwhile when the email exists. @param long texts that were sent ahead */
export async function insertReceived(
  executor: Executor,
  email: PlacedRecord,
  link: ReceivedLink,
  long: LongTexts,
): Promise<void> {
  await refuseKnown(run(executor, insertOf([email], [link], long), insertValues([email], [link], long)));
  await decideCustomers(executor, [email], [link]);
}

/**
 * The last statement of a transaction, and its commit. Throws RecordedMeanwhile when one of the emails exists. @param links one per email,
 * in their order
 */
export async function insertLast(
  transaction: PlannedTransaction,
  emails: readonly PlacedRecord[],
  links: readonly ReceivedLink[],
): Promise<void> {
  const insert = call(insertOf(emails, links, {}), insertValues(emails, links, {}));
  if (links.some(({ decides }) => decides)) {
    await refuseKnown(transaction.run(insert));
    await decideCustomers(transaction, emails, links);
  } else {
    await refuseKnown(transaction.runLast(insert));
  }
}

async function refuseKnown(inserting: Promise<unknown>): Promise<void> {
  try {
    await inserting;
  } catch (error) {
    throw isEmailKnown(error) ? new RecordedMeanwhile() : error;
  }
}

async function decideCustomers(
  executor: Executor,
  emails: readonly PlacedRecord[],
  links: readonly ReceivedLink[],
): Promise<void> {
  const deciding = emails.filter((_, index) => links[index]?.decides === true);
  await relinkCustomersOf(
    executor,
    deciding.map(({ record, threadId }) => ({ id: record.id, threadId })),
  );
}

/** Most emails need only one part; see EmailParts. */
const insertOf = (emails: readonly PlacedRecord[], links: readonly ReceivedLink[], long: LongTexts) =>
  INSERT.of({
    parts:
      Object.keys(long).length === 0 &&
      links.every(({ isFresh }) => isFresh) &&
      emails.every(
        ({ record }) =>
          record.attachments.length === 0 &&
          !record.isSentCopy &&
          record.report === null &&
          (record.absence ?? null) === null,
      )
        ? 'none'
        : 'all',
  });

function insertValues(emails: readonly PlacedRecord[], links: readonly ReceivedLink[], long: LongTexts) {
  const raws = new RawMessages();
  const rows = emails.map((email, index) => toRow(email, links[index] as ReceivedLink, raws, long));
  const read = emails.filter(({ record }) => record.isRead).map(({ record }) => record.id);
  return { emails: toStorableJson(rows), raws: raws.bytes, read: `{${read.join()}}` };
}

const LINK_COLUMNS =
  ', link_customer uuid, link_customer_source text, link_company uuid, link_company_source text';

export const directionOf = ({ isSentCopy }: { readonly isSentCopy: boolean }) =>
  isSentCopy ? 'outbound' : 'inbound';
export const stateOf = ({ isSentCopy }: { readonly isSentCopy: boolean }) =>
  isSentCopy ? 'sent' : 'received';

export function toContent(reading: Omit<Reading, 'report'>): EmailContent {
  return {
    ...reading,
    messageId: reading.identity.messageId,
    relayMessageId: reading.otherMessageId,
    read: {
      ...reading,
      bouncedMessageId: reading.links.find(({ rule }) => rule === 'bounce')?.messageId ?? null,
    },
  };
}

function toRow(
  { record, threadId, placement }: PlacedRecord,
  link: ReceivedLink,
  raws: RawMessages,
  long: LongTexts,
) {
  const email = toEmailRow(
    {
      ...toContent(record),
      id: record.id,
      accountId: record.accountId,
      threadId,
      direction: directionOf(record),
      writtenBy: link.writtenBy,
      state: stateOf(record),
      stateDetail: record.isSentCopy ? SENT_COPY_DETAIL : null,
      tookMs: record.tookMs ?? null,
      placement,
      subjectKey: record.bySubject?.key ?? null,
      raw: record.raw,
      rawPath: record.rawPath,
      rawSizeBytes: record.rawSizeBytes,
      arrival: { ...link, receivedBy: record.receivedBy, authentication: record.authentication },
    },
    raws,
    long,
  );
  return Object.assign(email, {
    link_customer: link.customerId,
    link_customer_source: link.customerSource,
    link_company: link.companyId,
    link_company_source: link.companySource,
    is_fresh: link.isFresh,
    deliveries: record.isSentCopy ? takersOf(record).map((address) => ({ address, state: 'accepted' })) : [],
    // Where a program may have written it, nothing is sent; nor to a stranger in the thread, whom an answer would make a participant.
    absence:
      link.writtenBy === 'person' && !link.isNewParticipant ? toAbsenceJson(record.absence ?? null) : null,
    report: record.isSentCopy || record.report === null ? null : toReportRow(record.report),
  });
}

const toAbsenceJson = (absence: AbsenceRequest | null) =>
  absence === null
    ? null
    : { address: absence.address, arrived_at: absence.arrivedAt, is_of_mailbox: absence.isOfMailbox };

const inputOf = (parts: 'none' | 'all'): string =>
  emailRecords('$emails', NEW_COLUMNS.reading, parts === 'all' ? LINK_COLUMNS + LONG_TEXTS : LINK_COLUMNS);

const INSERT = statements(
  'insert-received',
  { parts: ['none', 'all'] },
  ({ parts }) => `with read as materialized (
    -- For the trigger that marks received emails as unread.
    select set_config('email_worker.read_emails', $read, true)
  ), ${insertEmailRows('reading', inputOf(parts), 'r', '$emails', 'refused', {
    files: parts === 'all',
    longTexts: parts === 'all',
  })}${
    parts === 'none'
      ? ''
      : `, new_deliveries as (
    ${insertRecipients(addedOf('$emails', 'deliveries jsonb'))}
  ), new_reports as (
    ${insertReports(`${addedOf('$emails', 'account_id text, report jsonb')} where r.report is not null`)}
  ), new_absences as (
    ${insertAbsenceRequests(addedOf('$emails', ABSENCE_COLUMNS))}
  ), relinks as (
    ${markToRelink(`select r.id from ${addedOf('$emails', 'is_fresh boolean')} where not r.is_fresh`)}
  )`
  }
  select from read`,
);
