/** The journal of sends. */
import type { Content, RecordedRaw, SpoolFolder } from '../files/file-ports.ts';
import type { OutboundRecord, RecordedOutcome } from './outbound-ports.ts';
import type { Envelope, TransportResult } from './transport-ports.ts';
import type { QueuePlace } from '../../core/delivery/priority.ts';

/** A result and when it was known. */
export type SettledResult = TransportResult & { readonly endedAt: Date };

/**
 * What the journal keeps of a send: everything the record needs but the outcome. Binary parts that are small stand
 * in it; large ones are files of the spool folder, which the journal keeps until the entry is removed.
 */
export interface JournalEntry {
  readonly record: Omit<OutboundRecord, keyof RecordedOutcome | keyof RecordedRaw>;
  readonly envelope: Envelope;
  readonly raw: Content;
  /** Same order as `record.attachments`. */
  readonly attachments: readonly Content[];
  /** Where recipients that are put off stand in the queue. */
  readonly queue: QueuePlace;
  readonly startedAt: Date;
  /** null until SMTP answered. An entry found without one after a crash has the outcome `unknown`. */
  readonly result: SettledResult | null;
}

/** Durable local memory of sends that the database does not have yet. Keyed by email id. */
export interface Journal {
  /**
   * Returns when the entry, and every spool file it names, is on the disk (group commit). The folder is kept until
   * `remove`. Throws `ServiceError('disk_full')`.
   */
  prepare(entry: JournalEntry, folder: SpoolFolder): Promise<void>;
  /** Adds the outcome. Survives a killed process at once, and a power cut when `flush` has resolved. */
  settle(id: string, result: SettledResult): { readonly flush: () => Promise<void> };
  /** Forgets an entry that the database has, and deletes its spool folder. */
  remove(id: string): Promise<void>;
  /** True from `prepare` to `remove`, also for an entry that can't be read. */
  has(id: string): boolean;
  /** Entries, oldest first. */
  entries(): AsyncIterable<JournalEntry>;
  close(): Promise<void>;
}
