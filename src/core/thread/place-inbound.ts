/**
 * Finds the thread that a received email joins: the one that its Message-IDs lead to (the linking steps of RFC 5256 §3's
 * REFERENCES algorithm). Only the displayed reason is chosen here; all links count, and may merge threads.
 */
import type { Bounce } from '../delivery/bounce.ts';
import { isTelling, normaliseMessageId, type MessageId } from '../message/message-id.ts';
import type { ParsedMessage } from '../mime/parse/parsed-message.ts';

/**
 * How a Message-ID ties an email to a thread. `message_id`: its own, which another email named before, or which a
 * different email has as well. `bounce`: that of the sent email that a report returns. `subject`: that of an email with
 * the same subject, for a reply that names none.
 */
export type LinkRule = 'in_reply_to' | 'references' | 'bounce' | 'subject' | 'message_id';

export interface InboundLink {
  readonly rule: LinkRule;
  readonly messageId: MessageId;
}

export interface InboundPlacement {
  /** null: nothing to join. */
  readonly threadId: string | null;
  readonly rule: LinkRule | 'new';
  readonly matchedMessageId: MessageId | null;
}

/** The Message-IDs that an email names, as stored. */
export interface NamedIds {
  /** One of them ties the email, the first that was made for one email, else the first: the others are people, or messages that it is about. */
  readonly inReplyTo: readonly MessageId[];
  /** Oldest first. */
  readonly references: readonly MessageId[];
  /** That of the sent email that it returns; null when it is not a report. */
  readonly bounced: MessageId | null;
  /** That of the email to which its subject joined it; null when it was not. */
  readonly bySubject: MessageId | null;
}

/** An email's links, normalised, each Message-ID once, the strongest first: the answered email, then its ancestors, newest first. */
export function linksOf({ inReplyTo, references, bounced, bySubject }: NamedIds): readonly InboundLink[] {
  const links = new Map<MessageId, LinkRule>();
  const add = (rule: LinkRule, written: MessageId) => {
    const messageId = normaliseMessageId(written);
    if (!links.has(messageId)) links.set(messageId, rule);
  };
  const answered = inReplyTo.find(isTelling) ?? inReplyTo[0];
  if (answered !== undefined) add('in_reply_to', answered);
  for (const id of references.toReversed()) add('references', id);
  if (bounced !== null) add('bounce', bounced);
  if (bySubject !== null) add('subject', bySubject);
  return [...links].map(([messageId, rule]) => ({ rule, messageId }));
}

/**
 * The Message-ID that a report returns; null when the email is not a report. Only the surest one, since a report may quote
 * the Message-IDs of a whole unrelated conversation.
 */
export function bouncedMessageId(bounce: Bounce | null): MessageId | null {
  return bounce?.originalMessageIds[0] ?? null;
}

/** The links of a received message and its own Message-IDs, which another email may have or name. */
export function inboundLinks(
  messageId: MessageId,
  message: Pick<ParsedMessage, 'inReplyTo' | 'references' | 'otherMessageId'>,
  bounce: Bounce | null,
): readonly InboundLink[] {
  const links = linksOf({ ...message, bounced: bouncedMessageId(bounce), bySubject: null });
  const { otherMessageId } = message;
  const own = otherMessageId === null ? [messageId] : [messageId, otherMessageId];
  // An email that names itself is not tied to itself.
  return [
    ...links.filter((link) => !own.includes(link.messageId)),
    ...own.map((id) => ({ rule: 'message_id', messageId: id }) as const),
  ];
}

/** Decides by the first link whose Message-ID is known. `owners` gives the threads of the known ones. */
export function placeInbound(
  links: readonly InboundLink[],
  owners: ReadonlyMap<string, string>,
): InboundPlacement {
  for (const { rule, messageId } of links) {
    const threadId = owners.get(messageId);
    if (threadId !== undefined) return { threadId, rule, matchedMessageId: messageId };
  }
  return { threadId: null, rule: 'new', matchedMessageId: null };
}
