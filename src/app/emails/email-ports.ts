/** An email as it is shown, and what reading emails needs from the database. */
import type { ParseDefect } from '../../core/mime/parse/parsed-message.ts';
import type { SearchQuery } from '../../core/search/query.ts';
import type { AccountFilter } from '../base/account-filter.ts';
import type { RawLocation } from '../files/file-ports.ts';
import type { MailSource, VariantDetail, VariantView } from './variant-view.ts';
import type { CompanySource, CustomerSource } from '../../core/customer/link-emails.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { Bounce } from '../../core/delivery/bounce.ts';
import type { DeliveryReport } from '../../core/delivery/delivery-report.ts';
import type { EmailState, RecipientOutcome, RecordedAttempt } from '../../core/delivery/states.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';
import type { Metadata } from '../../core/message/tags.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { LinkRule } from '../../core/thread/place-inbound.ts';

/** An attachment as it is stored. */
export interface StoredAttachment {
  readonly id: string;
  /** As the sender named it, for display and download; not a path. */
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** `<account_id>/<email_id>/<filename>`, the last part made safe and unique within the email. */
  readonly storagePath: string;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  /** Without angle brackets (RFC 2392); null when there is none. */
  readonly contentId: string | null;
  /** Part of what the email shows, such as a logo, and not a file that was sent along. */
  readonly inline: boolean;
}

/** Why an email is in its thread. */
export interface Placement {
  /**
   * `thread_id`: the sender said so. `decision`: an operator split it off or moved it. `new`: nothing to join. The
   * others: by Message-ID.
   */
  readonly rule: 'thread_id' | 'decision' | 'new' | LinkRule;
  readonly matchedMessageId: MessageId | null;
}

/** One email of a thread, as the spec lists it. */
export interface EmailSummary {
  readonly id: string;
  readonly messageId: MessageId;
  readonly direction: 'inbound' | 'outbound';
  readonly from: AddressView;
  readonly to: readonly AddressView[];
  readonly subject: string;
  readonly textBody: string;
  readonly date: Date;
  readonly attachments: readonly AttachmentView[];
}

/**
 * Emails as the API shows them (`toEmailJson`), in JSON with commas between them: made by the database and handed on as it is.
 * What is too large to be held in memory comes in pieces, whose ends mean nothing; each is read when it is asked for, and
 * reading may fail between two of them. An email that exists all the while is in them once.
 */
export type EmailsJson =
  /** Bytes are UTF-8. */
  | { readonly kind: 'whole'; readonly json: string | Buffer }
  | { readonly kind: 'pieces'; readonly pieces: AsyncIterable<string> };

/** A page of a list. */
export interface EmailPage {
  readonly emails: EmailsJson;
  /** Its last email, after which the next page begins; null when there is none. */
  readonly next: { readonly date: Date; readonly id: string } | null;
}

/** How an address is stored and shown. */
export interface AddressView {
  readonly name: string;
  /** `local@domain`. */
  readonly address: string;
}

export type AttachmentView = Omit<StoredAttachment, 'sha256'>;

/** Everything known about one email. */
export interface EmailDetail extends EmailSummary {
  readonly accountId: string;
  readonly threadId: string;
  readonly customerId: string | null;
  /** Why it is this customer, or none. */
  readonly customerSource: CustomerSource | null;
  readonly companyId: string | null;
  readonly companySource: CompanySource | null;
  readonly cc: readonly AddressView[];
  readonly bcc: readonly AddressView[];
  readonly htmlBody: string | null;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  readonly relayMessageId: MessageId | null;
  readonly state: EmailState;
  readonly stateDetail: string | null;
  readonly deliveries: readonly DeliveryView[];
  readonly placement: Placement;
  readonly rawSizeBytes: number;
  readonly createdAt: Date;
  /** What a received email reports about sent ones; null when it is no report. */
  readonly bounce: BounceView | null;
  /** The new text, without quotes, of an email that came in or was sent by another program; null for other ones. */
  readonly replyText: string | null;
  /** null for a sent email, and where From says it. */
  readonly sender: AddressView | null;
  readonly replyTo: readonly AddressView[];
  /** What its send added to the message; empty for a received email. */
  readonly headers: CustomHeaders;
  /** The list that it was sent to, which its recipient can leave; null for none. */
  readonly unsubscribeList: string | null;
  /** The mailing list that a received email came by (RFC 2919); null for none. */
  readonly listId: string | null;
  /** What its send noted on it. */
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  /** The key that sent it; null: none, as for one that was received or sent by another program. */
  readonly author: KeyAuthor | null;
  /** What was wrong with a received email, as `ParseDefect` names it, and CONTENT_DIFFERS where it has variants. */
  readonly defects: readonly string[];
  /** How its message arrived; null for a sent email, and where it is not known. */
  readonly receivedBy: MailSource | null;
  /** The oldest first. */
  readonly variants: readonly VariantView[];
  /** Further ones that are only counted; see MAX_VARIANTS. */
  readonly refusedVariants: number;
  /** How an email shows that no person wrote it; null when it does not. */
  readonly automatic: AutomaticMail | null;
  /** What is known about the sender of a received email; null for nothing. */
  readonly authentication: MailAuthentication | null;
  /** The sender of a received email never took part in its thread before. */
  readonly newParticipant: boolean;
  /** Only what was received can be. */
  readonly isUnread: boolean;
  /** In the order of their numbers. */
  readonly attempts: readonly RecordedAttempt[];
  /** When it is tried next; null when it is not in the queue, or being sent. */
  readonly nextAttemptAt: Date | null;
  /** After this it is not tried again; null when it is not in the queue. */
  readonly giveUpAt: Date | null;
  /** Of a send that waits and may be changed, the version of its content; null for any other email. */
  readonly sendVersion: number | null;
  /** The process that had claimed it fell silent; when it comes back, it reports the outcome or sends the email. */
  readonly claimLost: boolean;
  /** Of it in the Sent mailbox of its account; null for an email that keeps none, or was not sent yet. */
  readonly sentCopy: SentCopyView | null;
}

export interface DeliveryView extends RecipientOutcome {
  /** The most telling of the reports that came back about it; null when none came. */
  readonly report: DeliveryReport | null;
}

export interface BounceView extends Pick<Bounce, 'kind' | 'format' | 'recipients'> {
  /** The sent email that it is about; null while that is not found, or had none of the recipients. */
  readonly emailId: string | null;
}

export interface CustomerEmailsQuery extends Pick<AccountFilter, 'within'> {
  readonly customerId: string;
  readonly direction: 'inbound' | 'outbound' | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  readonly limit: number;
  /** Where the page before ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/** Further filters of the list of emails, at least one of them; null: any. */
export interface EmailFilter {
  /** UUIDs, lower-case; that of a merged thread leads to the current one. */
  readonly threadId: string | null;
  readonly customerId: string | null;
  readonly companyId: string | null;
  readonly direction: 'inbound' | 'outbound' | null;
  /** A report said that a recipient did not get it, or will not. */
  readonly bounced: boolean | null;
  /** Files that were sent along; not what the HTML shows. */
  readonly hasFiles: boolean | null;
  /** As parseListId gives it. */
  readonly listId: string | null;
  /** Of its thread. */
  readonly label: string | null;
  /** Inclusive: when the service recorded it. */
  readonly recordedSince: Date | null;
  /** Inclusive, and exclusive: when it is sent or tried next. */
  readonly scheduledSince: Date | null;
  readonly scheduledUntil: Date | null;
}

/** All emails. */
export const NO_FILTER: EmailFilter = {
  threadId: null,
  customerId: null,
  companyId: null,
  direction: null,
  bounced: null,
  hasFiles: null,
  listId: null,
  label: null,
  recordedSince: null,
  scheduledSince: null,
  scheduledUntil: null,
};

export interface EmailsQuery extends AccountFilter {
  /** Default: none. */
  readonly filter?: EmailFilter;
  /** What their words must be; null: any. */
  readonly search: SearchQuery | null;
  readonly state: EmailState | null;
  readonly defect: ListedDefect | null;
  /** As parseTag gives it. */
  readonly tag: string | null;
  readonly limit: number;
  /** Where the page before ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/** Defects that an operator looks for: nothing but the bytes of the email could be kept. */
export const LISTED_DEFECTS = ['not_parsed'] as const satisfies readonly ParseDefect[];

export type ListedDefect = (typeof LISTED_DEFECTS)[number];

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface EmailStore {
  /** Newest first, at most `limit`. */
  listEmails(query: EmailsQuery): Promise<EmailPage>;
  /** Newest first, at most `limit`. */
  listCustomerEmails(query: CustomerEmailsQuery): Promise<EmailPage>;
  readEmail(id: string): Promise<EmailDetail | null>;
  /** Where the raw message is. */
  readRaw(id: string): Promise<RawLocation | null>;
  /** null when the email has no such variant. */
  readVariant(emailId: string, id: string): Promise<VariantDetail | null>;
  readVariantRaw(emailId: string, id: string): Promise<RawLocation | null>;
  readAttachment(id: string): Promise<StoredAttachment | null>;
}
