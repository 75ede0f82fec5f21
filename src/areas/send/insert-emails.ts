/**
 * Writes outbound emails: any number of them in one statement, so that one round trip and one commit serve many. An existing row is left as
 * it is, which makes every repeat harmless.
 */
import type { OutboundRecord } from './outbound-ports.ts';
import { sentAutomatic } from '../../core/delivery/automatic.ts';
import { meetingKeyOfSend } from '../../core/thread/meeting-points.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { learnAddresses } from '../customers/customer-addresses.ts';
import { markToRelink } from '../customers/customer-links.ts';
import { counterparties, linkColumns, linkJoins } from '../customers/match-customer.ts';
import { RULES_ARE_FRESH } from '../customers/rules-lock.ts';
import { relinkCustomersOf } from '../customers/relink-customers.ts';
import { run, statement, statements, type Executor } from '../../platform/db/statement.ts';
import { emailRecords, NEW_COLUMNS, partsOfRecords, RawMessages, toEmailRow } from '../emails/email-row.ts';
import { makeThreads, threadById } from '../emails/thread-rows.ts';
import { addedOf, insertEmailRows } from '../emails/write-emails.ts';
import { tieMessageIds } from '../threads/message-ids.ts';
import { insertQueued, QUEUE_COLUMNS, toQueueRow } from './queue-rows.ts';
import { insertAttempts, insertRecipients, toOutcomeRow } from './send-states.ts';

/**
 * Writes emails that start a conversation, in one statement and a commit of its own.
 *
 * Returns the ids of emails whose Message-ID the account already has (they were recorded before, or an answer or a copy came first), or in
 * whose second another program sent an email, which could be a copy. These emails are not inserted; they have to be linked.
 */
export async function insertNewSends(
  executor: Executor,
  records: readonly OutboundRecord[],
): Promise<ReadonlySet<string>> {
  const rows = await run(executor, INSERT_NEW.of(partsOf(records)), toValues(records));
  return new Set(rows.map(({ id }) => id));
}

/**
 * Writes one email whose thread and Message-IDs exist, with the thread locked, as a part of a transaction. False when the email exists,
 * too.
 */
export async function insertLinkedSend(
  executor: Executor,
  record: OutboundRecord,
  link: StoredLink,
): Promise<boolean> {
  const values = toValues([{ ...record, link }]);
  const [row] = await run(executor, INSERT_LINKED.of(partsOf([record])), values);
  if (row?.decides === true) await relinkCustomersOf(executor, [record]);
  return row !== undefined;
}

/** The sender's statements about its thread; see migrations/0001_schema/emails.ts. */
export interface StoredLink {
  readonly anchorId: string | null;
  readonly ignoredIds: readonly string[];
  readonly partyId: string | null;
}

/**
 * The parts that the emails' statement has; see EmailParts. Not one statement per combination: a connection keeps the plans of every
 * statement it ran, about a megabyte each.
 */
function partsOf(records: readonly OutboundRecord[]): { readonly parts: Parts } {
  if (records.some(({ attachments, customerId }) => attachments.length > 0 || customerId !== null))
    return { parts: 'all' };
  return { parts: records.some(({ queue }) => queue !== null) ? 'queue' : 'none' };
}

/** The parts beside the emails, their recipients and attempts: none, the queue, or also files and named customers. */
const PARTS = { parts: ['none', 'queue', 'all'] } as const;
type Parts = (typeof PARTS.parts)[number];

type LinkedRecord = OutboundRecord & { readonly link?: StoredLink };

function toValues(records: readonly LinkedRecord[]) {
  const raws = new RawMessages();
  const emails = toStorableJson(records.map((record) => toRow(record, raws)));
  return { emails, raws: raws.bytes };
}

function toRow(record: LinkedRecord, raws: RawMessages) {
  const { link, customerId, companyId, autoSubmitted } = record;
  const choice = {
    replyTo: record.replyTo ?? [],
    headers: record.headers ?? {},
    tags: record.tags ?? [],
    metadata: record.metadata ?? null,
    exchangeWith: record.exchangeWith ?? null,
    unsubscribeList: record.unsubscribeList ?? null,
    authorKeyId: record.authorKeyId ?? null,
    keepsCopy: record.keepsCopy ?? false,
    isAsWritten: record.isAsWritten ?? false,
    hasFooter: record.hasFooter ?? false,
    anchorId: link?.anchorId ?? null,
    ignoredIds: link?.ignoredIds ?? [],
    // For the first email of a thread it is the customer that this email names.
    partyId: link === undefined ? customerId : link.partyId,
  };
  const subjectKey = record.subjectKey ?? null;
  const automatic = autoSubmitted ? sentAutomatic(autoSubmitted) : null;
  const writtenBy = automatic === null ? 'person' : 'machine';
  const email = toEmailRow(
    {
      ...record,
      direction: 'outbound',
      meetingKeys: meetingKeysOfSend(record),
      writtenBy,
      subjectKey,
      automatic,
      choice,
    },
    raws,
  );
  return Object.assign(email, toOutcomeRow(record), toQueueRow(record.queue), {
    customer_id: customerId,
    company_id: companyId,
    is_by_person: record.isByPerson,
  });
}

export const meetingKeysOfSend = (record: OutboundRecord): readonly string[] =>
  record.inReplyTo.length + record.references.length === 0 ? [] : [meetingKeyOfSend(record)];

const RECIPIENTS = '(r.to_addresses || r.cc_addresses || r.bcc_addresses)';
const COUNTERPARTIES = counterparties(`'outbound'`, 'r.from_address', RECIPIENTS);

/** The columns of the JSON that placing an email and finding its customer need. */
const KEY_COLUMNS = `id uuid, account_id text, thread_id uuid, message_id text, relay_message_id text, date timestamptz,
  from_address jsonb, to_addresses jsonb, cc_addresses jsonb, bcc_addresses jsonb, customer_id uuid, company_id uuid,
  state text, author_key text, is_by_person boolean`;

/** `decides`: the email decides the customer of its thread, which existed before. */
const INPUT = `
    rules as materialized (
      select ${RULES_ARE_FRESH} as are_fresh
    ), given as materialized (
      select r.id, r.account_id, r.thread_id, r.message_id, r.relay_message_id, r.date, r.to_addresses, r.customer_id, r.state,
        r.author_key, r.is_by_person,
        ${linkColumns('r.customer_id', 'r.company_id')},
        t.id is not null and (
          (r.customer_id is not null and t.customer_source is distinct from 'explicit')
          or (r.company_id is not null and t.company_source is distinct from 'explicit')
          or (t.customer_id is null and m.customer_id is not null)
        ) as decides
      from ${partsOfRecords('$emails', KEY_COLUMNS)}
      left join lateral ${threadById('r.thread_id')} t on true
      ${linkJoins('r.customer_id', COUNTERPARTIES, 'r.account_id::text')}
    ), input as (
      -- A journal may still have one that is deleted.
      select g.* from given g where not exists (select from deleted_emails d where d.id = g.id)
    )`;

/** An email known only from its Sent copy; the index emails_sent_elsewhere has them. */
export const SENT_ELSEWHERE = `e.direction = 'outbound' and e.identity_key is not null`;

/**
 * A transaction that records sends of an account and has searched for earlier copies holds this lock, shared, until its sends are visible.
 * A process that recorded such a copy waits for the lock once and then searches for sends, so one of the two sees the other.
 */
export const SENDS_LOCK = (account: string) =>
  `pg_advisory_xact_lock_shared(${0x73656e64}, hashtext(${account}))`;
export const AWAIT_SENDS = statement(
  'await-sends',
  `select pg_advisory_xact_lock(${0x73656e64}, hashtext($accountId))`,
);

/** `fresh`: emails not known yet. Only Message-IDs decide, so that a transaction that links the same one at this moment waits. */
const LINK_FRESH = `
    locks as materialized (
      select ${SENDS_LOCK('a.account_id')} from (select distinct account_id from input) a
    ), new_ids as (
      ${tieMessageIds(`
        select account_id, message_id, thread_id from input
        union
        select account_id, relay_message_id, thread_id from input where relay_message_id is not null`)}
    ), fresh as materialized (
      select i.* from input i
      where (select count(*) from locks) > 0 and (i.account_id, i.message_id) in (select account_id, message_id from new_ids)
        and (i.relay_message_id is null
          or (i.account_id, i.relay_message_id) in (select account_id, message_id from new_ids))
        and not exists (
          select from emails e where e.account_id = i.account_id and e.date = i.date and ${SENT_ELSEWHERE}
        )
    ), new_threads as (
      -- A new thread takes its customer and company from its first email. What a program sends waits for no person.
      ${makeThreads(`
        select i.thread_id, i.account_id, f.link_customer, nullif(f.link_customer_source, 'ambiguous'), f.link_company,
          f.link_company_source, case when i.is_by_person then 'open' else 'done' end
        from input i left join fresh f on f.id = i.id
        where i.thread_id in (select thread_id from new_ids)`)}
    )`;

/** @param source `input` or `fresh` */
function insertFrom(source: string, parts: Parts): string {
  const emails = `${emailRecords('$emails', NEW_COLUMNS.send, '')} join ${source} l on l.id = r.id`;
  const added = { files: parts === 'all', longTexts: false };
  return `
    ${insertEmailRows('send', emails, 'l', '$emails', 'left', added)}, new_attempts as (
      ${insertAttempts(addedOf('$emails', 'attempts jsonb'))}
    ), new_deliveries as (
      ${insertRecipients(addedOf('$emails', 'deliveries jsonb'))}
    )${parts === 'none' ? '' : `, new_queue as (${insertQueued(addedOf('$emails', QUEUE_COLUMNS))})`}${
      parts === 'all'
        ? `, learned as (
      ${learnAddresses(
        `select i.customer_id, i.to_addresses, i.author_key from rules, ${source} i
        where i.customer_id is not null and i.state = 'sent' and rules.are_fresh`,
      )}
    )`
        : ''
    }, relinks as (
      ${markToRelink(`select i.id from rules, ${source} i where not rules.are_fresh`)}
    )`;
}

const INSERT_NEW = statements(
  'insert-new-sends',
  PARTS,
  ({ parts }) => `with ${INPUT}, ${LINK_FRESH}, ${insertFrom('fresh', parts)}
  select id from input where id not in (select id from fresh)`,
).narrow<{ id: string }>();

const INSERT_LINKED = statements(
  'insert-linked-send',
  PARTS,
  ({ parts }) => `with ${INPUT}, ${insertFrom('input', parts)}
  select i.decides from input i join new_emails n on n.id = i.id`,
).narrow<{ decides: boolean }>();
