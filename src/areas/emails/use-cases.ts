/** The use cases of stored emails that the edges call. */
import type { SearchParts } from '../../core/search/query.ts';
import type { PageRequest } from '../../platform/base/paging.ts';
import type { Readable } from 'node:stream';
import type { ListedDefect, EmailDetail, EmailFilter } from './email-ports.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { SignedImage } from './image-urls.ts';
import type { SanitizeOptions } from '../../core/html/sanitize-html.ts';
import type { ReadRemoteImage } from './remote-images.ts';
import type { SafeHtmlView } from './safe-html-view.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';
import type { VariantDetail } from './variant-view.ts';
import type { ByteRange } from '../../platform/files/file-ports.ts';
import type { EmailState } from '../../core/delivery/states.ts';

export interface CustomerEmailsRequest extends PageRequest, Pick<AccountFilter, 'within'> {
  /** UUID, lower-case. */
  readonly customerId: string;
  readonly direction: 'inbound' | 'outbound' | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
}

export interface EmailsRequest extends PageRequest, AccountFilter {
  /** Default: none. */
  readonly filter?: EmailFilter;
  /** The search as a person typed it, see core/search/query.ts; null: any. */
  readonly q: string | null;
  /** The same for certain parts of an email only. */
  readonly searchIn?: SearchParts;
  readonly state: EmailState | null;
  readonly defect: ListedDefect | null;
  /** As a caller writes it. */
  readonly tag: string | null;
}

export interface RawMessage {
  readonly sizeBytes: number;
  readonly stream: Readable;
}

export interface EmailUseCases {
  /** Throws `invalid_cursor`. */
  listCustomerEmails(request: CustomerEmailsRequest): Promise<EmailsPage>;
  /** All threads, newest first. Throws `invalid_cursor`, `unknown_account`. */
  listEmails(request: EmailsRequest): Promise<EmailsPage>;
  /** Throws `email_not_found`. */
  readEmail(id: string): Promise<EmailDetail>;
  /** Throws `email_not_found`, `content_missing`. */
  readRaw(id: string): Promise<RawMessage>;
  /** Throws `variant_not_found`. */
  readVariant(emailId: string, id: string): Promise<VariantDetail>;
  /** Throws `variant_not_found`, `content_missing`. */
  readVariantRaw(emailId: string, id: string): Promise<RawMessage>;
  /** Throws `email_not_found`, `reading_unavailable`. */
  readSafeHtml(
    id: string,
    options: {
      readonly allowRemote: boolean;
      /** See SanitizeOptions. */
      readonly document?: SanitizeOptions['document'];
      /** The key that asks; null: a secret. */
      readonly authorKeyId: string | null;
    },
  ): Promise<SafeHtmlView>;
  /**
   * An image by an address that readSafeHtml made; its type follows from its bytes. Throws `image_not_found`,
   * `content_missing`.
   */
  readSignedImage(
    image: SignedImage,
  ): Promise<{ readonly attachment: StoredAttachment; readonly type: string }>;
  /** A remote image of an email, by an address in its HTML. See ReadRemoteImage. */
  readonly readRemoteImage: ReadRemoteImage;
  /** The type under which a browser may show it; null when it may only be downloaded. Throws `content_missing`. */
  inlineTypeOf(attachment: StoredAttachment): Promise<string | null>;
  /** Throws `attachment_not_found`. */
  readAttachment(id: string): Promise<StoredAttachment>;
  /** Throws `content_missing`. */
  openAttachment(attachment: StoredAttachment, range?: ByteRange): Promise<Readable>;
}
