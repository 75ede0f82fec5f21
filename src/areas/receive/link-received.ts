/** Finds the customers and writers of received emails while they are recorded, and detects new senders. The threads are already locked. */
import type { InboundRecord } from './inbound-ports.ts';
import type { CompanySource, CustomerSource } from '../../core/customer/link-emails.ts';
import { hasFailed } from '../../core/message/authentication.ts';
import { judgeWriter, needsFacts, type Writer } from '../../core/delivery/writer.ts';
import { normaliseAddress } from '../../core/customer/rules.ts';
import type { InboundPlacement } from '../../core/thread/place-inbound.ts';
import { ownerKey } from '../../core/thread/place-together.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { jsonRows, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { linkColumns, linkJoins } from '../customers/match-customer.ts';
import { toView } from '../emails/received-values.ts';
import { threadById } from '../emails/thread-rows.ts';
import { RULES_ARE_FRESH } from '../customers/rules-lock.ts';
import { answeredIds, answeredSubjects, isWrittenTo } from './writer-facts.ts';
import { counterpartiesOf } from './sent-copies.ts';

/** An email that is about to be recorded, and its thread, which exists. */
export interface PlacedRecord {
  readonly record: InboundRecord;
  readonly threadId: string;
  readonly placement: InboundPlacement;
}

export interface ReceivedLink {
  readonly customerId: string | null;
  readonly customerSource: CustomerSource | null;
  readonly companyId: string | null;
  readonly companySource: CompanySource | null;
  /** The sender takes no part in the thread: no email there is from or to the sender, except emails of new participants. */
  readonly isNewParticipant: boolean;
  /** The email is in its thread only because others named its Message-ID, which no email had. */
  readonly isOnlyNamed: boolean;
  readonly writtenBy: Writer;
  /** The email also decides the customer of the thread. */
  readonly decides: boolean;
  /** False: the rules are being changed. */
  readonly isFresh: boolean;
}

/** The link of an email that is recorded alone. */
export async function readLink(executor: Executor, email: PlacedRecord): Promise<ReceivedLink> {
  const [link] = toReceivedLinks([email], await run(executor, READ_LINKS, linksValues([email])));
  return link as ReceivedLink;
}

/** The parameters of READ_LINKS and LINKS. */
export function linksValues(placed: readonly PlacedRecord[]) {
  const emails = placed.map(({ record, threadId, placement }, ordinal) => ({
    ordinal,
    thread_id: threadId,
    account_id: record.accountId,
    // Looked up only for emails that nothing else ties to their thread.
    named: isNamed(placement) && !record.isSentCopy ? record.identity.messageId : null,
    sender: senderOf(record),
    // Looked up only for emails whose marks do not show who wrote them.
    judged: !record.isSentCopy && needsFacts(record.automatic) ? fromOf(record).toLowerCase() : null,
    answered: needsFacts(record.automatic) ? answeredIds(record.links) : [],
    counterparties: record.isSentCopy ? counterpartiesOf(record) : toList(normaliseAddress(fromOf(record))),
  }));
  return {
    placed: toStorableJson(emails),
    senders: [...new Set(emails.flatMap(({ sender }) => sender ?? []))],
  };
}

const LINKS_QUERY = `
  with input as materialized (
    select * from jsonb_to_recordset($placed::jsonb)
      as r (ordinal int, thread_id uuid, account_id text, named text, sender text, judged text, answered text[],
        counterparties text[])
  ), people as materialized (
    -- Each thread is gone through once, however many of the emails are in it.
    -- A stranger takes part once an email from a participant names it: its own emails let no address in, not even itself.
    select e.thread_id, array_agg(distinct a.address) filter (
        where a.address = any ($senders::text[]) and not e.new_participant
          and e.authentication ->> 'verdict' is distinct from 'failed'
      ) as found
    from emails e, lateral (
      select lower(e.from_address ->> 'address') as address
      union all
      select lower(r ->> 'address') from jsonb_array_elements(e.to_addresses || e.cc_addresses || e.bcc_addresses) r
    ) a
    where e.thread_id = any (array(select thread_id from input where sender is not null))
    group by e.thread_id
  )
  select l.link_customer as customer_id, l.link_customer_source as customer_source, l.link_company as company_id,
    l.link_company_source as company_source, l.match_customer, l.match_source, l.match_company, l.is_unlinked,
    exists (
      select from emails e where e.account_id = r.account_id and e.message_id = r.named
      union all
      select from emails e where e.account_id = r.account_id and e.relay_message_id = r.named
    ) as is_borne,
    case when r.judged is not null then ${answeredSubjects('r.account_id', 'r.answered')} end as answered_subjects,
    r.judged is not null and ${isWrittenTo('r.account_id', 'r.judged')} as is_written_to,
    rules.is_fresh, p.thread_id is not null as has_emails,
    coalesce(r.sender = any (p.found), false) as is_participant
  from (select ${RULES_ARE_FRESH} as is_fresh) rules,
    input r left join people p on p.thread_id = r.thread_id,
    lateral (
      select ${linkColumns('null::uuid', 'null::uuid')}, t.customer_id is null as is_unlinked,
        m.customer_id as match_customer, m.source as match_source, own.company_id as match_company
      from ${threadById('r.thread_id')} t ${linkJoins('null::uuid', 'r.counterparties', 'r.account_id::text', 'true')}
      left join customer_companies own on own.customer_id = m.customer_id
    ) l
  order by r.ordinal`;

interface LinkColumns {
  customer_source: CustomerSource | null;
  company_source: CompanySource | null;
  match_source: CustomerSource | null;
  is_unlinked: boolean;
  is_borne: boolean;
  answered_subjects: string[] | null;
  is_written_to: boolean;
  is_fresh: boolean;
  has_emails: boolean;
  is_participant: boolean;
}

const READ_LINKS = statement('read-links', LINKS_QUERY).narrow<LinkColumns>();

/** The result of READ_LINKS, for a statement that asks for more at once. */
export const LINKS = jsonRows('links-json', LINKS_QUERY).narrow<LinkColumns>();
export type LinkJson = JsonOf<typeof LINKS>;

type LinkRow = RowOf<typeof READ_LINKS> | LinkJson;

/**
 * Takes the emails in the order of their recording: a sender is not new to a thread in which an earlier one of a participant names them.
 *
 * @param rows the result of READ_LINKS or LINKS
 */
export function toReceivedLinks(
  placed: readonly PlacedRecord[],
  rows: readonly LinkRow[],
): readonly ReceivedLink[] {
  if (rows.length !== placed.length) throw new Error('a thread of a received email is not there');
  const participants = new Map<string, Set<string>>();
  const borne = new Set<string>();
  return placed.map(({ record, threadId, placement }, index): ReceivedLink => {
    const row = rows[index] as LinkRow;
    const own = ownerKey(record.accountId, record.identity.messageId);
    // An email that failed authentication is treated the same way: its sender may not have sent it.
    const isForged = hasFailed(record.authentication);
    const isOnlyNamed =
      isForged || (isNamed(placement) && !record.isSentCopy && !row.is_borne && !borne.has(own));
    borne.add(own);
    const sender = senderOf(record);
    const before = participants.get(threadId);
    const isNewParticipant =
      sender !== null &&
      (row.has_emails || before !== undefined) &&
      // Senders without an address are not one person.
      (sender === '' || (!row.is_participant && before?.has(sender) !== true));
    const people = before ?? new Set();
    if (!isNewParticipant && !isForged) for (const address of peopleOf(record)) people.add(address);
    participants.set(threadId, people);
    // A stranger who guessed or got hold of a Message-ID does not decide the customer of the thread.
    const isStranger = isNewParticipant || isOnlyNamed;
    const ofThread = {
      customerId: row.customer_id,
      customerSource: row.customer_source,
      companyId: row.company_id,
      companySource: row.company_source,
    };
    const ofAddress = {
      customerId: row.match_customer,
      customerSource: row.match_source,
      companyId: row.match_company,
      companySource: row.match_company === null ? null : ('registration' as const),
    };
    return {
      ...(isStranger ? ofAddress : ofThread),
      isNewParticipant,
      isOnlyNamed,
      writtenBy: judgeWriter(record.automatic, {
        answeredSubjects: row.answered_subjects ?? [],
        isKnownSender: row.is_written_to || row.match_source !== null,
      }),
      decides: row.is_unlinked && row.customer_id !== null && !isStranger,
      isFresh: row.is_fresh,
    };
  });
}

const isNamed = ({ rule }: InboundPlacement): boolean => rule === 'message_id';

/** null for an email that was sent from the account: its sender is never new. */
function senderOf(record: InboundRecord): string | null {
  return record.isSentCopy ? null : fromOf(record).toLowerCase();
}

/** Empty when From has no address that can be read: what stands there instead belongs to no customer. */
function fromOf({ from }: InboundRecord): string {
  return from === null || from.domain === '' ? '' : toView(from).address;
}

const toList = (address: string): readonly string[] => (address === '' ? [] : [address]);

function peopleOf(record: InboundRecord): readonly string[] {
  const recipients = [...record.to, ...record.cc, ...record.bcc].map((address) => toView(address).address);
  return [fromOf(record), ...recipients].map((address) => address.toLowerCase());
}
