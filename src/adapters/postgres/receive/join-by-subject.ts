/**
 * Joins replies that name no email to the conversation with the same subject, where the account is configured for it.
 * It works both ways: a reply looks for the email it may answer, and every email looks for replies that came before it,
 * as happens when a mailbox is read from its newest email.
 */
import { sql, type Transaction } from 'kysely';
import type { InboundRecord } from '../../../app/receive/inbound-ports.ts';
import type { Address } from '../../../core/address/address.ts';
import { readBaseSubject } from '../../../core/message/base-subject.ts';
import type { MessageId } from '../../../core/message/message-id.ts';
import type { Database } from '../db/database.ts';
import { toView } from '../emails/received-values.ts';
import { toMessageId } from '../emails/rows.ts';
import { setReasons } from '../threads/place-emails.ts';

export interface SubjectLinks {
  /** The email that this one answers by its subject; null for none. */
  readonly answered: MessageId | null;
  /** Message-IDs of replies to this one that were waiting for it. */
  readonly waiting: readonly MessageId[];
}

type Subject = NonNullable<InboundRecord['bySubject']>;

const NONE: SubjectLinks = { answered: null, waiting: [] };

/** Replies that one email finds waiting at most. */
const MAX_WAITING = 20;

/** First key of the locks that serialise emails of one subject. Taken before all other locks. */
const SUBJECT_LOCK = 0x7375626a;

/** Stores in the waiting replies that they answer this email. */
export async function linkBySubject(
  trx: Transaction<Database>,
  record: InboundRecord,
): Promise<SubjectLinks> {
  const { bySubject, accountId, isSentCopy, from, to, cc, bcc } = record;
  if (bySubject === null) return NONE;
  const sender = from === null ? [] : lowerCase([from]);
  const recipients = lowerCase([...to, ...cc, ...bcc]);
  const lockName = `${accountId} ${bySubject.key}`;
  await sql`select pg_advisory_xact_lock(${SUBJECT_LOCK}, hashtext(${lockName}))`.execute(trx);
  return {
    answered:
      bySubject.isReply && isWithoutReferences(record)
        ? await findAnswered(trx, record, bySubject, isSentCopy ? recipients : sender)
        : null,
    waiting: await takeWaiting(trx, record, bySubject, [...sender, ...recipients]),
  };
}

function lowerCase(addresses: readonly Address[]): string[] {
  return addresses.map((address) => toView(address).address.toLowerCase()).filter((text) => text !== '');
}

function isWithoutReferences({ inReplyTo, references, links }: InboundRecord): boolean {
  return inReplyTo.length + references.length === 0 && links.every(({ rule }) => rule === 'message_id');
}

/** The nearest before it, from or to one of the counterparties. */
async function findAnswered(
  trx: Transaction<Database>,
  { accountId, date }: InboundRecord,
  { key, windowDays }: Subject,
  counterparties: readonly string[],
): Promise<MessageId | null> {
  const addresses = [...counterparties];
  const { rows } = await sql<{ message_id: string }>`
    select e.message_id
    from emails e
    where e.account_id = ${accountId} and e.subject_key = ${key}
      and e.date <= ${date} and e.date >= ${date}::timestamptz - make_interval(days => ${windowDays}::int)
      and (
        lower(e.from_address ->> 'address') = any(${addresses}::text[]) or exists (
          select from jsonb_array_elements(e.to_addresses || e.cc_addresses || e.bcc_addresses) a
          where lower(a ->> 'address') = any(${addresses}::text[])
        )
      )
    order by e.date desc, e.id desc limit 1`.execute(trx);
  return rows[0] === undefined ? null : toMessageId(rows[0].message_id);
}

/** Replies without references that came before, and joined nothing; from now on they answer this email. */
async function takeWaiting(
  trx: Transaction<Database>,
  { accountId, date, identity }: InboundRecord,
  { key, windowDays }: Subject,
  people: readonly string[],
): Promise<readonly MessageId[]> {
  const found = await sql<{ id: string; message_id: string; subject: string }>`
    select e.id, e.message_id, e.subject
    from emails e
    where e.account_id = ${accountId} and e.subject_key = ${key}
      and e.date >= ${date} and e.date <= ${date}::timestamptz + make_interval(days => ${windowDays}::int)
      and e.placement_rule = 'new' and e.direction = 'inbound'
      and e.in_reply_to = '{}' and e.reference_ids = '{}' and e.bounced_message_id is null
      and e.message_id <> ${identity.messageId}
      and lower(e.from_address ->> 'address') = any(${[...people]}::text[])
    order by e.date, e.id limit ${MAX_WAITING}`.execute(trx);
  const replies = found.rows.filter(({ subject }) => readBaseSubject(subject).isReply);
  await setReasons(
    trx,
    replies.map(({ id }) => ({ id, rule: 'subject', messageId: identity.messageId })),
  );
  return replies.map((row) => toMessageId(row.message_id));
}
