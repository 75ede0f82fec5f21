/**
 * Variants of recorded emails: messages with the same identity (Message-ID, Date, From and subject) and other
 * content, such as a copy with a list's footer, or a forgery. There is still one record; each variant is kept whole, once.
 */
import type { RecordedRaw } from '../files/file-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

export interface VariantRecord extends RecordedRaw {
  readonly id: string;
  readonly emailId: string;
  /** See `ParsedMessage.contentDigest`. */
  readonly contentDigest: string;
  readonly receivedAt: Date;
  readonly source: MailSource | null;
  readonly isSentCopy: boolean;
  readonly textBody: string;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface VariantStore {
  /**
   * Keeps a variant once. `known`: there is one that says the same, or the record does. `refused`: the email has as many as
   * are kept (MAX_VARIANTS, MAX_VARIANT_BYTES); it is counted.
   */
  addVariant(variant: VariantRecord): Promise<'kept' | 'known' | 'refused'>;
  /** Where the raw message of an email is. */
  locateRaw(emailId: string): Promise<{ readonly bytes: Buffer | null; readonly path: string | null } | null>;
  /** Sent emails whose copies were recorded before them, and are not compared yet. */
  dueComparisons(limit: number): Promise<readonly string[]>;
  /** Whether one of the email's copies that are not compared yet has that content. */
  hasUncompared(emailId: string, contentDigest: string): Promise<boolean>;
  /**
   * All copies are compared: those with this content are no variants. Returns the paths of their files.
   * @param contentDigest null: the email's content is unknown
   */
  concludeComparison(emailId: string, contentDigest: string | null): Promise<readonly string[]>;
}

/**
 * Variants of one email that are kept, at most. Ours: a mail to ten lists has ten; a sender who forges more could just as
 * well send that many new emails.
 */
export const MAX_VARIANTS = 100;

/** Bytes of the raw messages of one email's variants, together. Ours: a few of the largest messages that are taken. */
export const MAX_VARIANT_BYTES = 200_000_000;
