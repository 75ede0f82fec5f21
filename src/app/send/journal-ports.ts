/** The journal of hand-overs. */
import type { Content, RecordedRaw, SpoolFolder } from '../files/file-ports.ts';
import type { ClaimKey, ClaimRef } from './claim.ts';
import type { OutboundRecord, RecordedOutcome } from './outbound-ports.ts';
import type { Envelope, TransportResult } from './transport-ports.ts';
import type { QueuedSend } from '../../core/delivery/priority.ts';

/** An email that the database does not have yet: everything its record needs but the outcome. */
export interface UnrecordedEmail {
  readonly record: Omit<OutboundRecord, keyof RecordedOutcome | keyof RecordedRaw>;
  readonly raw: Content;
  /** Same order as `record.attachments`. */
  readonly attachments: readonly Content[];
  /** How it stands in the queue, or how its recipients do that are put off. */
  readonly queue: QueuedSend;
}

/** What is known of an attempt before its first byte goes out. */
export interface JournalAttempt extends ClaimRef {
  readonly envelope: Envelope;
  readonly startedAt: Date;
  /** Of a direct send; null when the database has the email. */
  readonly email: UnrecordedEmail | null;
}

/** An attempt that has ended. */
export interface EndedAttempt extends JournalAttempt {
  /** null when the end was not seen. */
  readonly endedAt: Date | null;
  readonly result: TransportResult;
}

export interface JournalEntry {
  readonly attempt: JournalAttempt;
  /** null until the mail server answered, and for ever when the process was killed before. */
  readonly ended: EndedAttempt | null;
}

/**
 * Durable local memory of the hand-overs whose outcome the database does not have yet. Binary parts of an unrecorded email
 * that are small stand in its entry; large ones are files of the spool folder, which the journal keeps until `remove`.
 */
export interface Journal {
  /**
   * UUID of this journal, the owner of this process' claims. A claim that the journal does not know counts as never begun,
   * so claims belong to the journal: a service that loses its journal loses them too, and can't take them for never begun.
   */
  readonly owner: string;
  /**
   * Returns when the entry, and every spool file it names, is on the disk (group commit); before that nothing may be
   * handed over. `folder` may be null for an attempt without an unrecorded email. Throws `ServiceError('disk_full')`.
   */
  prepare(attempt: JournalAttempt, folder: SpoolFolder | null): Promise<void>;
  /** Adds the outcome. Survives a killed process at once, and a power cut when `flush` has resolved. */
  settle(ended: EndedAttempt): { readonly flush: () => Promise<void> };
  /** Forgets an entry that the database has, or that never began, and deletes its spool folder. */
  remove(key: ClaimKey): Promise<void>;
  /** True from `prepare` to `remove`, also for an entry that can't be read. */
  has(key: ClaimKey): boolean;
  /** All entries, the oldest email first; they may be removed meanwhile. */
  keys(): Iterable<ClaimKey>;
  /** null when there is none, or it can't be read: that is logged once, and the entry kept. */
  read(key: ClaimKey): JournalEntry | null;
  close(): Promise<void>;
}
