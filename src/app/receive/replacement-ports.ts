/** The database operations that replacing a received message by a Sent copy of the same identity needs. */
import type { RecordedRaw } from '../files/file-ports.ts';
import type { ReadEmail, Reading } from './reparse-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

export interface SentContentRecord {
  /** The id of the variant that the received content becomes. */
  readonly variantId: string;
  readonly reading: Reading;
  readonly raw: RecordedRaw;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly rawDigest: string;
  readonly receivedBy: MailSource | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ContentReplacements {
  /** The reading of an email that was recorded from a raw message; null when it does not exist. */
  readRecorded(id: string): Promise<ReadEmail | null>;
  /**
   * Turns a received email into the one that was sent from the account, with the content of its Sent copy; its earlier
   * content becomes a variant. Returns the paths of files that nothing refers to any more, except attachments; null when
   * the email is outbound already, or gone.
   */
  replaceBySent(email: ReadEmail, copy: SentContentRecord): Promise<readonly string[] | null>;
}
