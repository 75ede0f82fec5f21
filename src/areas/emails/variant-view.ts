/** Variants as the API shows them. */
import type { MailSource } from '../../core/message/mail-source.ts';

/** The defect of an email that has variants with another content. */
export const CONTENT_DIFFERS = 'content_differs';

/** A variant as the API lists it. */
export interface VariantView {
  readonly id: string;
  readonly receivedAt: Date;
  /** null when it is not known. */
  readonly source: MailSource | null;
  /** It came as a copy of an email that was sent from the account. */
  readonly isSentCopy: boolean;
  readonly rawSizeBytes: number;
  /** SHA-256 of its content, in lower-case hex. */
  readonly contentDigest: string;
  /** Its texts and files are those of the email; it came another way. */
  readonly hasSameContent: boolean;
}

export interface VariantDetail extends VariantView {
  readonly textBody: string;
}
