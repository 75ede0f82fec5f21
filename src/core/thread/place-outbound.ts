/**
 * Decides which thread an outbound email joins, and its In-Reply-To and References (RFC 5322 §3.6.4).
 *
 * An explicit thread decides; else a known `in_reply_to`; else a new thread. With `thread_id` alone the newest email
 * of that thread is the one replied to, so that the recipient's mail program threads the answer too.
 */
import { ServiceError } from '../errors.ts';
import { normaliseMessageId, type MessageId } from '../message/message-id.ts';

export interface PlacementQuery {
  /** The account the caller named; null when it named none. */
  readonly accountId: string | null;
  /** The account that sends when neither the caller nor the thread decides. */
  readonly defaultAccountId: string;
  readonly threadId: string | null;
  /** As the caller writes it. */
  readonly inReplyTo: MessageId | null;
  /** Of the email, see meetingKeyOfSend; absent: it meets no mail that names the same unknown email. */
  readonly meetingKey?: string;
  /** Which of several emails with that Message-ID is meant; null: the oldest. */
  readonly answeredEmailId?: string | null;
  /** The facts tell whether an email of the thread has the footer. Default: they do not. */
  readonly findsFooter?: boolean;
}

/** An email that a new one may answer. */
export interface Parent {
  readonly messageId: MessageId;
  /** Its own References (or In-Reply-To, where it had no References), oldest first. */
  readonly references: readonly MessageId[];
  /** See readThreadIndex; null when it has none. */
  readonly threadIndex?: string | null;
  /** Its sender and reply addresses, when it was received and a program wrote it; `local@domain`. */
  readonly automaticFrom?: readonly string[];
}

export interface PlacementFacts {
  /** The thread that `threadId` names, aliases resolved; null when it does not exist or none was asked for. */
  readonly thread: { readonly id: string; readonly accountId: string } | null;
  /** Its newest email; null when it has none. */
  readonly newest: Parent | null;
  /** The thread of the Message-ID `inReplyTo`, of the email that has it, or of mail with the same recipient that names it; null when it is unknown. */
  readonly inReplyToThreadId: string | null;
  /** The Message-ID of the email `inReplyTo` as its header writes it; null when that email was never seen. */
  readonly inReplyToWritten: MessageId | null;
  /** References of the email `inReplyTo` itself; empty when that email was never seen. */
  readonly inReplyToReferences: readonly MessageId[];
  /** That of the email `inReplyTo`; see Parent. */
  readonly inReplyToThreadIndex?: string | null;
  /** `automaticFrom` of the email `inReplyTo`; see Parent. */
  readonly inReplyToAutomaticFrom?: readonly string[];
  /** An email of the thread has the footer of its account, as far as it was looked for. Default: none. */
  readonly hasFooter?: boolean;
}

export interface OutboundPlacement {
  readonly accountId: string;
  readonly threadId: string;
  readonly rule: 'thread_id' | 'in_reply_to' | 'new';
  readonly matchedMessageId: MessageId | null;
  /** The email replied to, for In-Reply-To and References; null for a new conversation. */
  readonly parent: Parent | null;
  /** See PlacementFacts. */
  readonly hasFooter: boolean;
}

/**
 * Decides. `newThreadId` is used when nothing is joined.
 * Throws `thread_not_found` when `threadId` names no thread of the account.
 */
export function placeOutbound(
  query: PlacementQuery,
  facts: PlacementFacts,
  newThreadId: string,
): OutboundPlacement {
  const answered: Parent | null =
    query.inReplyTo === null
      ? null
      : {
          messageId: writtenOf(query.inReplyTo, facts.inReplyToWritten),
          references: facts.inReplyToReferences,
          threadIndex: facts.inReplyToThreadIndex ?? null,
          automaticFrom: facts.inReplyToAutomaticFrom ?? [],
        };

  if (query.threadId !== null) {
    const thread = facts.thread;
    if (thread === null || (query.accountId !== null && query.accountId !== thread.accountId)) {
      throw new ServiceError('thread_not_found');
    }
    return {
      accountId: thread.accountId,
      threadId: thread.id,
      rule: 'thread_id',
      matchedMessageId: null,
      parent: answered ?? facts.newest,
      hasFooter: facts.hasFooter ?? false,
    };
  }

  const accountId = query.accountId ?? query.defaultAccountId;
  if (answered !== null && facts.inReplyToThreadId !== null) {
    return {
      accountId,
      threadId: facts.inReplyToThreadId,
      rule: 'in_reply_to',
      matchedMessageId: normaliseMessageId(answered.messageId),
      parent: answered,
      hasFooter: facts.hasFooter ?? false,
    };
  }
  return {
    accountId,
    threadId: newThreadId,
    rule: 'new',
    matchedMessageId: null,
    parent: answered,
    hasFooter: false,
  };
}

/** An answer names an email's own form of its Message-ID; the caller may know the email by another one, a relay's. */
function writtenOf(asked: MessageId, found: MessageId | null): MessageId {
  return found !== null && normaliseMessageId(found) === normaliseMessageId(asked) ? found : asked;
}
