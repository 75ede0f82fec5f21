/** Records one received email in a transaction of its own, with everything it may need: merged threads, a search by subject. */
import type { InboundRecord } from './inbound-ports.ts';
import { findRecorded, type KnownEmail, type SoughtEmail } from '../emails/find-recorded.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { placeInbound, type InboundLink } from '../../core/thread/place-inbound.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { directionOf, insertReceived, stateOf, toContent } from './insert-received.ts';
import { linkBySubject, requireTogether } from './join-by-subject.ts';
import { readLink } from './link-received.ts';
import { linkThread, readTies } from '../threads/link-thread.ts';
import { textsOf } from '../emails/email-row.ts';
import { dropLongTexts, sendLongTexts } from '../emails/long-texts.ts';

/** Rolls back the links made for an email that turned out to be recorded already. */
export class AlreadyRecorded extends Error {
  readonly known: KnownEmail;

  constructor(known: KnownEmail) {
    super('the email is recorded already');
    this.known = known;
  }
}

/**
 * Throws AlreadyRecorded, SubjectKeptApart, and the errors of linkThread.
 *
 * @param apart see linkBySubject
 */
export async function insertAlone(
  executor: Executor,
  record: InboundRecord,
  exclusive: boolean,
  apart: ReadonlySet<string>,
): Promise<KnownEmail> {
  const { accountId } = record;
  // Before anything is locked: sending the texts may take a while.
  const long = await sendLongTexts(executor, record.id, textsOf(toContent(record)));
  const bySubject = await linkBySubject(executor, record, apart);
  const { answered, waiting } = bySubject;
  const links: readonly InboundLink[] =
    answered === null ? record.links : [{ rule: 'subject', messageId: answered }, ...record.links];
  const tied = {
    id: record.id,
    messageIds: ownIdsOf(record),
    links: links.filter(({ rule }) => rule !== 'message_id').map(({ messageId }) => messageId),
    meetingKeys: record.meetingKeys,
    isSend: false,
    date: record.date,
    anchorId: null,
  };
  const { byId: named } = await readTies(executor, { accountId, email: tied });
  const linked = await linkThread(executor, {
    accountId,
    threadId: placeInbound(links, named).threadId ?? record.newThreadId,
    email: tied,
    customer: null,
    answeredBy: waiting,
    mayMerge: true,
    exclusive,
  });
  // After linking, as in record-together.ts.
  const [known = null] = await findRecorded(executor, [toSought(record)]);
  if (known !== null) throw new AlreadyRecorded(known);
  requireTogether(record, bySubject, linked, apart.size > 0);
  const { threadId, owners } = linked;
  // Where decisions keep threads apart, not every link leads to the email's thread.
  const placement = placeInbound(
    links,
    new Map([...named.keys()].filter((id) => owners.get(id) === threadId).map((id) => [id, threadId])),
  );
  const email = { record, threadId, placement };
  await insertReceived(executor, email, await readLink(executor, email), long);
  await dropLongTexts(executor, record.id, long);
  return toKnown(record, threadId);
}

/** The Message-ID of the email's header, then that of a second field. */
export const ownIdsOf = ({
  identity,
  otherMessageId,
}: Pick<InboundRecord, 'identity' | 'otherMessageId'>): readonly MessageId[] =>
  otherMessageId === null ? [identity.messageId] : [identity.messageId, otherMessageId];

export function toSought(record: InboundRecord): SoughtEmail {
  const { accountId, identity, identityKey, sharedKey, contentDigest, answers } = record;
  return { accountId, identity, key: identityKey, sharedKey, content: { contentDigest, answers } };
}

export function toKnown(record: InboundRecord, threadId: string): KnownEmail {
  return {
    id: record.id,
    messageId: record.identity.messageId,
    threadId,
    direction: directionOf(record),
    state: stateOf(record),
    contentDigest: record.contentDigest,
    isDeleted: false,
  };
}
