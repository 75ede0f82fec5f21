/** Gives the reason why an email belongs in another thread: the strongest tie that leads there. */
import type { InboundLink, LinkRule } from './place-inbound.ts';

export interface MovedEmail {
  /** Its own Message-IDs. */
  readonly messageIds: readonly string[];
  readonly namedLinks: readonly InboundLink[];
  readonly label: string | null;
}

/** `decision`: an operator's. `message_id`: its own, which others in the thread have or name. `new`: nothing ties it there. */
export interface Reason {
  readonly rule: LinkRule | 'decision' | 'new';
  readonly messageId: string | null;
}

/** `inGroup`: the Message-ID belongs where the email does. `isElsewhere`: its present thread is not the email's. */
export function whyMoved(
  email: MovedEmail,
  inGroup: (messageId: string) => boolean,
  isElsewhere: (messageId: string) => boolean,
): Reason {
  if (email.label !== null) return { rule: 'decision', messageId: null };
  const links = email.namedLinks.filter(({ messageId }) => inGroup(messageId));
  const link = links.find(({ messageId }) => isElsewhere(messageId)) ?? links[0];
  if (link !== undefined) return { rule: link.rule, messageId: link.messageId };
  const own = email.messageIds.find((id) => inGroup(id) && isElsewhere(id));
  return own === undefined ? { rule: 'new', messageId: null } : { rule: 'message_id', messageId: own };
}
