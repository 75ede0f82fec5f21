/**
 * Joins replies that name no email to the conversation with the same subject, where the account is configured for it.
 * It works both ways: a reply looks for the email it may answer, and every email looks for replies that came before it,
 * as happens when a mailbox is read from its newest email.
 */
import type { InboundRecord } from './inbound-ports.ts';
import type { Address } from '../../core/address/address.ts';
import { readBaseSubject } from '../../core/message/base-subject.ts';
import { isTelling, type MessageId } from '../../core/message/message-id.ts';
import { meets } from '../../core/thread/meeting-points.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { BeginAgain } from '../../platform/db/transaction.ts';
import { toView } from '../emails/received-values.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { setReasons } from '../threads/place-emails.ts';

export interface SubjectLinks {
  /** The email that this one answers by its subject; null for none. */
  readonly answered: MessageId | null;
  /** Replies that were waiting for this email. */
  readonly waiting: readonly WaitingReply[];
}

interface WaitingReply {
  readonly id: string;
  readonly messageId: MessageId;
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
}

type Subject = NonNullable<InboundRecord['bySubject']>;

const NONE: SubjectLinks = { answered: null, waiting: [] };

/** The nearest emails among which a reply finds the one that it answers. */
const MAX_ANSWERED = 20;
/** Most waiting replies that one email finds. */
const MAX_WAITING = 20;

/** First key of the locks that serialise emails of one subject. Taken before all other locks. */
const SUBJECT_LOCK = 0x7375626a;
const LOCK_SUBJECT = statement(
  'lock-subject',
  `select pg_advisory_xact_lock(${SUBJECT_LOCK}, hashtext($lockName))`,
);

/**
 * A tie by subject would join threads that are kept apart, by decisions or because customers differ. It must not count, nor may it have
 * affected anything: the transaction begins again without it.
 */
export class SubjectKeptApart extends BeginAgain {
  /** The emails that would have answered another one: replies that were waiting, or the new email. */
  readonly replies: readonly string[];

  constructor(replies: readonly string[]) {
    super('emails of one subject are kept apart');
    this.replies = replies;
  }
}

/**
 * Records that the waiting replies answer this email.
 *
 * @param apart replies that are not tied: see SubjectKeptApart
 */
export async function linkBySubject(
  executor: Executor,
  record: InboundRecord,
  apart: ReadonlySet<string>,
): Promise<SubjectLinks> {
  const { bySubject, accountId, isSentCopy, from, to, cc, bcc } = record;
  if (bySubject === null) return NONE;
  const sender = from === null ? [] : lowerCase([from]);
  const recipients = lowerCase([...to, ...cc, ...bcc]);
  const lockName = `${accountId} ${bySubject.key}`;
  await run(executor, LOCK_SUBJECT, { lockName });
  return {
    answered:
      bySubject.isReply && isWithoutReferences(record) && !apart.has(record.id)
        ? await findAnswered(executor, record, bySubject, isSentCopy ? recipients : sender)
        : null,
    waiting: await takeWaiting(executor, record, bySubject, [...sender, ...recipients], apart),
  };
}

function lowerCase(addresses: readonly Address[]): string[] {
  return addresses.map((address) => toView(address).address.toLowerCase()).filter((text) => text !== '');
}

function isWithoutReferences({ inReplyTo, references, links }: InboundRecord): boolean {
  return inReplyTo.length + references.length === 0 && links.every(({ rule }) => rule === 'message_id');
}

/** The nearest email before this one that is from or to one of the counterparties. */
async function findAnswered(
  executor: Executor,
  { accountId, date, meetingKeys }: InboundRecord,
  { key, windowDays }: Subject,
  counterparties: readonly string[],
): Promise<MessageId | null> {
  const limit = MAX_ANSWERED;
  const rows = await run(executor, FIND_ANSWERED, {
    accountId,
    key,
    date,
    windowDays,
    counterparties,
    limit,
  });
  const found = rows.find(
    (row) => row.is_send || isTelling(row.message_id) || meets(meetingKeys, row.meeting_keys),
  );
  return found === undefined ? null : toMessageId(found.message_id);
}

const FIND_ANSWERED = statement(
  'find-answered-by-subject',
  `select e.message_id, e.meeting_keys, e.identity_key is null as is_send
  from emails e
  where e.account_id = $accountId and e.subject_key = $key
    and e.date <= $date and e.date >= $date::timestamptz - make_interval(days => $windowDays::int)
    and (
      lower(e.from_address ->> 'address') = any($counterparties::text[]) or exists (
        select from jsonb_array_elements(e.to_addresses || e.cc_addresses || e.bcc_addresses) a
        where lower(a ->> 'address') = any($counterparties::text[])
      )
    )
  order by e.date desc, e.id desc limit $limit`,
).narrow<{ is_send: boolean }>();

/** Earlier replies without references that joined nothing; from now on they answer this email. */
async function takeWaiting(
  executor: Executor,
  { accountId, date, identity, meetingKeys }: InboundRecord,
  { key, windowDays }: Subject,
  people: readonly string[],
  apart: ReadonlySet<string>,
): Promise<readonly WaitingReply[]> {
  const found = await run(executor, FIND_WAITING, {
    accountId,
    key,
    date,
    windowDays,
    messageId: identity.messageId,
    people,
    limit: MAX_WAITING,
  });
  const replies = found.filter(
    (row) =>
      readBaseSubject(row.subject).isReply &&
      !apart.has(row.id) &&
      (isTelling(identity.messageId) || meets(meetingKeys, row.meeting_keys)),
  );
  await setReasons(
    executor,
    replies.map(({ id }) => ({ id, rule: 'subject', messageId: identity.messageId })),
  );
  return replies.map((row) => ({
    id: row.id,
    messageId: toMessageId(row.message_id),
    meetingKeys: row.meeting_keys,
  }));
}

/**
 * Throws SubjectKeptApart unless every tie leads to the thread of the email.
 *
 * @param isAgain true when some ties were dropped before: then none is tried again
 */
export function requireTogether(
  email: { readonly id: string },
  { answered, waiting }: SubjectLinks,
  { threadId, owners }: { readonly threadId: string; readonly owners: ReadonlyMap<string, string> },
  isAgain: boolean,
): void {
  const ties = [...waiting, ...(answered === null ? [] : [{ id: email.id, messageId: answered }])];
  const apart = ties.filter(({ messageId }) => owners.get(messageId) !== threadId);
  if (apart.length > 0) throw new SubjectKeptApart((isAgain ? ties : apart).map(({ id }) => id));
}

const FIND_WAITING = statement(
  'find-waiting-by-subject',
  `select e.id, e.message_id, e.subject, e.meeting_keys
  from emails e
  where e.account_id = $accountId and e.subject_key = $key
    and e.date >= $date and e.date <= $date::timestamptz + make_interval(days => $windowDays::int)
    and e.placement_rule = 'new' and e.direction = 'inbound'
    and e.in_reply_to = '{}' and e.reference_ids = '{}' and e.bounced_message_id is null
    and e.message_id <> $messageId
    and lower(e.from_address ->> 'address') = any($people::text[])
  order by e.date, e.id limit $limit`,
);
