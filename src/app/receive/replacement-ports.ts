/** What replacing a received message by a Sent copy of the same identity needs from the database. */
import type { RecordedRaw } from '../files/file-ports.ts';
import type { ReadEmail, Reading } from './reparse-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

export interface SentContentRecord {
  /** Of the variant that the received content becomes. */
  readonly variantId: string;
  readonly reading: Reading;
  readonly raw: RecordedRaw;
  readonly receivedBy: MailSource | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ContentReplacements {
  /** What was read of an email that was recorded from a raw message; null when there is none. */
  readRecorded(id: string): Promise<ReadEmail | null>;
  /**
   * Makes a received email the one that was sent from the account, and says what its Sent copy says; what it said before
   * becomes a variant. Returns the paths of files that nothing refers to any more, except attachments; null when it is
   * outbound already, or gone.
   */
  replaceBySent(email: ReadEmail, copy: SentContentRecord): Promise<readonly string[] | null>;
}
