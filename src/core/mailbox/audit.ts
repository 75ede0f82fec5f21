/** What is wrong with the record of a mailbox, message by message. */
import type { MessageId } from '../message/message-id.ts';

/** What the database says of one message. */
export interface AuditedMessage {
  readonly uid: number;
  /** It is marked as gone from the mailbox. */
  readonly isGone: boolean;
  /** The email it is said to have; null: it waits, is set aside, or was deleted. */
  readonly email: { readonly id: string; readonly messageIds: readonly MessageId[] } | 'lost' | null;
}

/**
 * `missing`: in the mailbox, but not known. `lost`: its email does not exist. `other`: its email bears another Message-ID.
 * `marked_gone`: marked as gone, but there. `not_marked`: gone, but not marked.
 */
export type AuditFinding = 'missing' | 'lost' | 'other' | 'marked_gone' | 'not_marked';

export const AUDIT_FINDINGS = ['missing', 'lost', 'other', 'marked_gone', 'not_marked'] as const;

export interface AuditState {
  /** Known to the database; null: not. */
  readonly known: AuditedMessage | null;
  readonly isInMailbox: boolean;
  /** What its header says; null when it has none, or was not read. */
  readonly messageId: MessageId | null;
}

/** The first thing that is wrong; null: nothing. */
export function auditMessage({ known, isInMailbox, messageId }: AuditState): AuditFinding | null {
  if (known === null) return isInMailbox ? 'missing' : null;
  if (known.isGone) return isInMailbox ? 'marked_gone' : null;
  if (!isInMailbox) return 'not_marked';
  if (known.email === null) return null;
  if (known.email === 'lost') return 'lost';
  return messageId === null || known.email.messageIds.includes(messageId) ? null : 'other';
}
