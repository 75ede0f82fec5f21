/** The journal of hand-overs. */
import type { Content, RecordedRaw, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ClaimKey, ClaimRef } from './claim.ts';
import type { OutboundRecord, RecordedOutcome } from './outbound-ports.ts';
import type { Envelope, TransportResult } from './transport-ports.ts';
import type { QueuedSend } from '../../core/delivery/priority.ts';

/** An email that the database does not have yet: everything that its record needs except the outcome. */
export interface UnrecordedEmail {
  readonly record: Omit<OutboundRecord, keyof RecordedOutcome | keyof RecordedRaw>;
  readonly raw: Content;
  /** Same order as `record.attachments`. */
  readonly attachments: readonly Content[];
  /** Its place in the queue, or that of its deferred recipients. */
  readonly queue: QueuedSend;
}

/** The facts about an attempt that are known before its first byte goes out. */
export interface JournalAttempt extends ClaimRef {
  readonly envelope: Envelope;
  /** null: nothing is handed over. The email is for the queue, and the database may have it or not. */
  readonly startedAt: Date | null;
  /** Of a direct send; null when the database has the email. */
  readonly email: UnrecordedEmail | null;
}

/** An attempt that has ended. */
export interface EndedAttempt extends JournalAttempt {
  readonly startedAt: Date;
  /** null when the end was not seen. */
  readonly endedAt: Date | null;
  readonly result: TransportResult;
}

export interface JournalEntry {
  readonly attempt: JournalAttempt;
  /** null until the mail server has answered, and for ever when the process was killed before that. */
  readonly ended: EndedAttempt | null;
}

/**
 * Durable local memory of the hand-overs whose outcome the database does not have yet, and of sends for the queue that it
 * may not have. Small binary parts of an
 * unrecorded email are in its entry; large ones are files of the spool folder, which the journal keeps until `remove`.
 */
export interface Journal {
  /**
   * UUID of this journal, the owner of this process' claims. A claim without an entry in the journal counts as never
   * begun, so claims belong to the journal: a service that loses its journal loses its claims too, and can't mistake them
   * for never begun.
   */
  readonly owner: string;
  /**
   * Returns when the entry, and every spool file that it names, is on the disk (group commit); before that nothing may be
   * handed over. `folder` may be null for an attempt without an unrecorded email. Throws `ServiceError('disk_full')`.
   */
  prepare(attempt: JournalAttempt, folder: SpoolFolder | null): Promise<void>;
  /** Adds the outcome. It survives a killed process at once, and a power cut once `flush` has resolved. */
  settle(ended: EndedAttempt): { readonly flush: () => Promise<void> };
  /** Forgets an entry that the database has, or that never began, and deletes its spool folder. */
  remove(key: ClaimKey): Promise<void>;
  /** True from `prepare` to `remove`, also for an entry that can't be read. */
  has(key: ClaimKey): boolean;
  /** All entries, the oldest email first; they may be removed meanwhile. */
  keys(): Iterable<ClaimKey>;
  /** null when there is none, or it can't be read: the failure is logged once, and the entry kept. */
  read(key: ClaimKey): JournalEntry | null;
  close(): Promise<void>;
}
