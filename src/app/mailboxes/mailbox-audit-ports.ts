/** The database operations that auditing mailboxes needs. All throw `ServiceError('database_unavailable')`. */
import type { AuditedMessage } from '../../core/mailbox/audit.ts';
import type { MailboxProgress } from '../../core/mailbox/sync-plan.ts';
import type { UidSet } from '../../core/mailbox/uid-set.ts';

export interface AuditedMailbox {
  readonly id: string;
  readonly progress: MailboxProgress;
  readonly waiting: number;
  readonly quarantined: number;
}

export interface MailboxRepair {
  /** To be taken again: unknown until now, or recorded with a wrong email. */
  readonly take: UidSet;
  /** In the mailbox, whatever their marks say. */
  readonly present: UidSet;
  readonly gone: UidSet;
}

export interface MailboxAuditStore {
  /** null: never read. */
  findMailbox(accountId: string, path: string): Promise<AuditedMailbox | null>;
  /** The known messages from `first` to `last`, both included; ascending. */
  readMessages(
    mailboxId: string,
    uidValidity: number,
    first: number,
    last: number,
  ): Promise<readonly AuditedMessage[]>;
  /** May be repeated. The process that reads the mailbox takes the messages that are marked for it. */
  repair(mailboxId: string, uidValidity: number, repair: MailboxRepair): Promise<void>;
}
