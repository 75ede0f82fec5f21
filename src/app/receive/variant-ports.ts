/**
 * Variants of recorded emails: messages that are the same email in other bytes, such as one that came another way, a copy
 * with a list's footer, or what claims to be an email of ours. There is still one record; each variant is kept whole, once.
 */
import type { RecordedRaw } from '../files/file-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

export interface VariantRecord extends RecordedRaw {
  readonly id: string;
  readonly emailId: string;
  /** See `ParsedMessage.contentDigest`. */
  readonly contentDigest: string;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly rawDigest: string;
  readonly receivedAt: Date;
  readonly source: MailSource | null;
  readonly isSentCopy: boolean;
  readonly textBody: string;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface VariantStore {
  /**
   * Keeps a variant once. `known`: a variant has the same bytes. `refused`: the email already has as many as are kept
   * (MAX_VARIANTS, MAX_VARIANT_BYTES).
   */
  addVariant(variant: VariantRecord): Promise<'kept' | 'known' | 'refused'>;
  /** Counts a variant that is not kept. */
  countRefused(emailId: string, at: Date): Promise<void>;
  /** The location of an email's raw message. */
  locateRaw(emailId: string): Promise<{ readonly bytes: Buffer | null; readonly path: string | null } | null>;
  /** Sent emails whose copies were recorded before them, and are not compared yet. */
  dueComparisons(limit: number): Promise<readonly string[]>;
  /** True if one of the email's copies that are not compared yet has that content. */
  hasUncompared(emailId: string, contentDigest: string): Promise<boolean>;
  /**
   * All copies are compared: those with this content are not variants. Returns the paths of their files.
   * @param contentDigest null: the email's content is unknown
   */
  concludeComparison(emailId: string, contentDigest: string | null): Promise<readonly string[]>;
}

/**
 * The maximum number of variants kept for one email. Our choice: a mail to ten lists has ten; a sender who forges more
 * could just as well send that many new emails.
 */
export const MAX_VARIANTS = 100;

/**
 * Bytes of the raw messages of one email's variants, together. Our choice: a few of the largest messages that are
 * accepted.
 */
export const MAX_VARIANT_BYTES = 200_000_000;
