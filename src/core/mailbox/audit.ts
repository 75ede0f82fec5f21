/** Finds errors in the record of a mailbox, message by message. */
import type { MessageId } from '../message/message-id.ts';

/** The database's record of one message. */
export interface AuditedMessage {
  readonly uid: number;
  /** The message is marked as gone from the mailbox. */
  readonly isGone: boolean;
  /** The email recorded for the message; null: it waits, is set aside, or was deleted. */
  readonly email: { readonly id: string; readonly messageIds: readonly MessageId[] } | 'lost' | null;
}

/**
 * `missing`: in the mailbox, but not known. `lost`: its email does not exist. `other`: its email has another Message-ID.
 * `marked_gone`: marked as gone, but present. `not_marked`: gone, but not marked.
 */
export type AuditFinding = 'missing' | 'lost' | 'other' | 'marked_gone' | 'not_marked';

export const AUDIT_FINDINGS = ['missing', 'lost', 'other', 'marked_gone', 'not_marked'] as const;

export interface AuditState {
  /** null: not known to the database. */
  readonly known: AuditedMessage | null;
  readonly isInMailbox: boolean;
  /** From its header; null when it has none, or the header was not read. */
  readonly messageId: MessageId | null;
}

/** The first error; null: none. */
export function auditMessage({ known, isInMailbox, messageId }: AuditState): AuditFinding | null {
  if (known === null) return isInMailbox ? 'missing' : null;
  if (known.isGone) return isInMailbox ? 'marked_gone' : null;
  if (!isInMailbox) return 'not_marked';
  if (known.email === null) return null;
  if (known.email === 'lost') return 'lost';
  return messageId === null || known.email.messageIds.includes(messageId) ? null : 'other';
}
