/** Threads of messages, computed only from their links: by our rule, and by the linking steps of RFC 5256 §3, REFERENCES. */
import { readBounce } from '../../src/core/delivery/bounce.ts';
import { identityOf } from '../../src/core/message/identity.ts';
import type { Address } from '../../src/core/address/address.ts';
import { isTelling, type MessageId } from '../../src/core/message/message-id.ts';
import { suggestCounterparty } from '../../src/core/message/suggested-counterparty.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import type { ParsedMessage } from '../../src/core/mime/parse/parsed-message.ts';
import { groupByLinks } from '../../src/core/thread/link-graph.ts';
import { meetingKeysOf, nodesOf } from '../../src/core/thread/meeting-points.ts';
import { inboundLinks } from '../../src/core/thread/place-inbound.ts';
import { numbered } from './groups.ts';

interface Linked {
  readonly messageId: MessageId;
  readonly message: ParsedMessage;
}

function linked(raw: string | Buffer): Linked {
  const message = parseMessage(Buffer.from(raw));
  return { messageId: identityOf(message).messageId, message };
}

/**
 * Our threads, as the number of each message's group: everything that links connect.
 *
 * @param own of the account that received them: a Message-ID that is not known then connects only who meets there. Without it, all
 * Message-IDs count as known.
 */
export function ourThreads(
  raws: readonly (string | Buffer)[],
  own: Address | null = null,
): readonly number[] {
  const all = raws.map(linked);
  const known = new Set<string>(all.map(({ messageId }) => messageId).filter(isTelling));
  const isKnown = (messageId: string) => own === null || known.has(messageId);
  const emails = all.map(({ messageId, message }, index) => {
    const links = inboundLinks(messageId, message, readBounce(message));
    const keys =
      own === null
        ? []
        : meetingKeysOf(
            {
              suggested: suggestCounterparty(message, [], { from: own })?.address ?? null,
              from: [...message.replyTo, ...message.from],
              recipients: [...message.to, ...message.cc, ...message.bcc],
              messageId,
            },
            own,
          );
    return {
      id: String(index),
      messageIds: nodesOf(messageId, keys, isKnown),
      anchorId: null,
      partyId: null,
      links: links
        .filter(({ rule }) => rule !== 'message_id')
        .flatMap((link) => nodesOf(link.messageId, keys, isKnown)),
      date: message.date ?? new Date(0),
      label: null,
    };
  });
  const ids = new Set(emails.flatMap(({ messageIds, links }) => [...messageIds, ...links]));
  return groupByLinks({
    emails,
    messageIds: new Map([...ids].map((id) => [id, null])),
    separations: [],
  }).emails;
}

/**
 * The reason why RFC 5256 does not follow a link that we follow. `other_parent`: when two emails disagree on the parent of a third, the
 * third itself has the last word, else the first. `circle`: an email would be its own ancestor. `in_reply_to`: if there are References,
 * only they count. `bounce`: the email that a delivery report returns.
 */
export type DroppedReason = 'other_parent' | 'circle' | 'in_reply_to' | 'bounce';

export interface DroppedLink {
  readonly reason: DroppedReason;
  readonly a: MessageId;
  readonly b: MessageId;
}

export interface Rfc5256Threads {
  /** The number of each message's group. */
  readonly groups: readonly number[];
  readonly dropped: readonly DroppedLink[];
  /** The groups if the dropped links are followed too. */
  readonly withDropped: readonly number[];
}

/** The threads of RFC 5256; the order of the messages counts. No two may have the same Message-ID. */
export function rfc5256Threads(raws: readonly (string | Buffer)[]): Rfc5256Threads {
  const parents = new Map<MessageId, MessageId>();
  const dropped: DroppedLink[] = [];
  const drop = (reason: DroppedReason, a: MessageId, b: MessageId) => dropped.push({ reason, a, b });
  const isAncestor = (ancestor: MessageId, of: MessageId): boolean => {
    for (let at: MessageId | undefined = of; at !== undefined; at = parents.get(at)) {
      if (at === ancestor) return true;
    }
    return false;
  };
  const link = (parent: MessageId, child: MessageId): void => {
    const before = parents.get(child);
    if (before === parent) return;
    if (before !== undefined) drop('other_parent', parent, child);
    else if (isAncestor(child, parent)) drop('circle', parent, child);
    else parents.set(child, parent);
  };

  const ids = raws.map((raw) => {
    const { messageId, message } = linked(raw);
    const { references, inReplyTo } = message;
    const chain = references.length > 0 ? references : inReplyTo.slice(0, 1);
    for (const [index, child] of chain.entries()) {
      if (index > 0) link(chain[index - 1]!, child);
    }
    // The email's own statement counts, even if it names no parent.
    const [parent, before] = [chain.at(-1), parents.get(messageId)];
    if (before !== undefined && before !== parent) {
      drop('other_parent', before, messageId);
      parents.delete(messageId);
    }
    if (parent !== undefined) link(parent, messageId);
    for (const { rule, messageId: b } of inboundLinks(messageId, message, readBounce(message))) {
      if (rule === 'bounce' || (rule === 'in_reply_to' && !chain.includes(b))) drop(rule, messageId, b);
    }
    return messageId;
  });

  const rootsOf = (): readonly MessageId[] => ids.map((id) => rootOf(parents, id));
  const groups = numbered(rootsOf());
  for (const { a, b } of dropped) {
    const [one, other] = [rootOf(parents, a), rootOf(parents, b)];
    if (one !== other) parents.set(one, other);
  }
  return { groups, dropped, withDropped: numbered(rootsOf()) };
}

function rootOf(parents: ReadonlyMap<MessageId, MessageId>, id: MessageId): MessageId {
  let at = id;
  for (let next = parents.get(at); next !== undefined; next = parents.get(at)) at = next;
  return at;
}
