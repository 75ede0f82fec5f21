/**
 * Which thread a received email joins: the one that its Message-IDs lead to (the linking steps of RFC 5256 §3's
 * REFERENCES algorithm). Here only the reason is chosen that is shown; all links count, and may merge threads.
 */
import type { Bounce } from '../delivery/bounce.ts';
import type { MessageId } from '../message/message-id.ts';
import type { ParsedMessage } from '../mime/parsed-message.ts';

/**
 * How a Message-ID ties an email to a thread. `message_id`: its own, which another email named before, or which a
 * different email has as well. `bounce`: that of the sent email which a report returns.
 */
export type LinkRule = 'in_reply_to' | 'references' | 'bounce' | 'message_id';

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

/** All links of a message, the most telling first: what it answers, then its ancestors from the newest on. */
export function inboundLinks(
  messageId: MessageId,
  message: Pick<ParsedMessage, 'inReplyTo' | 'references'>,
  bounce: Bounce | null,
): readonly InboundLink[] {
  // Only the surest one: a report may quote the Message-IDs of a whole conversation that has nothing to do with it.
  const returned = bounce?.originalMessageIds.slice(0, 1) ?? [];
  return [
    ...message.inReplyTo.map((id) => ({ rule: 'in_reply_to', messageId: id }) as const),
    ...message.references.toReversed().map((id) => ({ rule: 'references', messageId: id }) as const),
    ...returned.map((id) => ({ rule: 'bounce', messageId: id }) as const),
    { rule: 'message_id', messageId },
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
