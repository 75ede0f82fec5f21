/**
 * Variants of recorded emails: messages that are the same email in other bytes, such as one that came another way, a copy
 * with a list's footer, or what claims to be an email of ours. There is still one record; each variant is kept whole, once.
 */
import type { KeyedContent } from '../../core/message/identity.ts';
import type { RawLocation, RecordedRaw } from '../files/file-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

export interface VariantRecord extends RecordedRaw, KeyedContent {
  readonly id: string;
  readonly emailId: string;
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
   * Keeps a variant once. `known`: the record or a variant has the same bytes. `refused`: the email already has as many as are kept
   * (MAX_VARIANTS, MAX_VARIANT_BYTES).
   */
  addVariant(variant: VariantRecord): Promise<'kept' | 'known' | 'refused'>;
  /** Counts a variant that is not kept. */
  countRefused(emailId: string, at: Date): Promise<void>;
  /** The location of an email's raw message. */
  locateRaw(emailId: string): Promise<RawLocation | null>;
  /** The same of a variant. */
  locateVariant(emailId: string, id: string): Promise<RawLocation | null>;
  /** Sent emails whose copies were recorded before them, and are not compared yet. */
  dueComparisons(limit: number): Promise<readonly string[]>;
  /** The ids of the email's copies that are not compared yet. */
  uncompared(emailId: string): Promise<readonly string[]>;
  /** The copies are compared: those that are what was sent are not variants. Returns the paths of their files. */
  concludeComparison(
    emailId: string,
    compared: readonly { readonly id: string; readonly isUnchanged: boolean }[],
  ): Promise<readonly string[]>;
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
