/** An email as the API shows it, and the database operations that reading emails needs. */
import type { AddressView } from '../../core/address/address-view.ts';
import type { EmailsJson } from '../../platform/db/emails-json.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { ParseDefect, Protection } from '../../core/mime/parse/parsed-message.ts';
import type { SearchQuery } from '../../core/search/query.ts';
import type { AccountFilter } from '../../platform/base/account-filter.ts';
import type { RawLocation } from '../../platform/files/file-ports.ts';
import type { VariantDetail, VariantView } from './variant-view.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { CompanySource, CustomerSource } from '../../core/customer/link-emails.ts';
import type { Attendee, Invitation } from '../../core/calendar/invitation.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { Writer } from '../../core/delivery/writer.ts';
import type { Bounce } from '../../core/delivery/bounce.ts';
import type { DeliveryReport } from '../../core/delivery/delivery-report.ts';
import type { EmailState, RecipientOutcome, RecordedAttempt } from '../../core/delivery/states.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { Metadata } from '../../core/message/tags.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { LinkRule } from '../../core/thread/place-inbound.ts';

/** The reason why an email is in its thread. */
export interface Placement {
  /**
   * `thread_id`: the sender named the thread. `decision`: an operator split the email off or moved it. `new`: there was
   * nothing to join. The others: by Message-ID.
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

/** A page of a list. */
export interface EmailPage {
  readonly emails: EmailsJson;
  /** Its last email, after which the next page begins; null when it is the last page. */
  readonly next: { readonly date: Date; readonly id: string } | null;
}

export type AttachmentView = Omit<StoredAttachment, 'sha256'>;

/** Everything known about one email. */
export interface EmailDetail extends EmailSummary {
  readonly accountId: string;
  readonly threadId: string;
  readonly customerId: string | null;
  /** Why it has this customer, or none. */
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
  /** The report in a received email about sent ones; null when it is no report. */
  readonly bounce: BounceView | null;
  /** The new text, without quotes, of an email that was received or sent by another program; null for other emails. */
  readonly replyText: string | null;
  /** The address in the Sender field; null for a sent email, and for one without that field. */
  readonly sender: AddressView | null;
  /** See suggestCounterparty; null too for an email whose sender failed its check. */
  readonly suggestedCounterparty: SuggestedCounterparty | null;
  readonly replyTo: readonly AddressView[];
  /** The header fields that its send added; empty for a received email. */
  readonly headers: CustomHeaders;
  /** The list that it was sent to, which its recipient can leave; null for none. */
  readonly unsubscribeList: string | null;
  /** The mailing list that a received email came by (RFC 2919); null for none. */
  readonly listId: string | null;
  /** The tags that its send gave it. */
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  /** The key that sent it; null: none, as for an email that was received or sent by another program. */
  readonly author: KeyAuthor | null;
  /** The defects of a received email, as `ParseDefect` names them, and CONTENT_DIFFERS if a variant has another content. */
  readonly defects: readonly string[];
  /** Of a received email that is signed or encrypted; null for any other. */
  readonly protection: Protection | null;
  /** null when it has none. */
  readonly invitation: InvitationView | null;
  /** How its message arrived; null for a sent email, and when it is not known. */
  readonly receivedBy: MailSource | null;
  /** The oldest first. */
  readonly variants: readonly VariantView[];
  /** Further variants, which are only counted; see MAX_VARIANTS. */
  readonly refusedVariants: number;
  /** The marks of mail that programs write or that goes to many; null for none. */
  readonly automatic: AutomaticMail | null;
  /** null for a sent email. */
  readonly writtenBy: Writer | null;
  /** The facts known about the sender of a received email; null for none. */
  readonly authentication: MailAuthentication | null;
  /** The sender of a received email had never taken part in its thread before. */
  readonly newParticipant: boolean;
  /** Only a received email can be unread. */
  readonly isUnread: boolean;
  /** By attempt number. */
  readonly attempts: readonly RecordedAttempt[];
  /** The time of the next attempt; null when it is not in the queue, or is being sent. */
  readonly nextAttemptAt: Date | null;
  /** After this time it is not tried again; null when it is not in the queue. */
  readonly giveUpAt: Date | null;
  /** The version of the content of a send that waits and may be changed; null for any other email. */
  readonly sendVersion: number | null;
  /**
   * The process that had claimed it fell silent; when that process returns, it reports the outcome or sends the email.
   */
  readonly claimLost: boolean;
  /** Its copy in the Sent mailbox of its account; null when no copy is kept, or the email is not sent yet. */
  readonly sentCopy: SentCopyView | null;
}

/** The invitation in an email, and what became of it. */
export interface InvitationView {
  readonly event: Invitation;
  /** The later email in which the organizer changed or cancelled it; null: it is valid. */
  readonly replacedBy: { readonly emailId: string; readonly method: 'request' | 'cancel' } | null;
  /** The last answer from the account; null: none. */
  readonly answer: {
    readonly emailId: string;
    readonly status: Attendee['status'];
    readonly date: Date;
  } | null;
}

export interface DeliveryView extends RecipientOutcome {
  /** The most significant of the reports that came back about it; null when none came. */
  readonly report: DeliveryReport | null;
}

export interface BounceView extends Pick<Bounce, 'kind' | 'format' | 'recipients'> {
  /** The sent email that the report is about; null while it is not found, or if it had none of the recipients. */
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
  /** Where the previous page ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/** Further filters of the list of emails, at least one of them; null: any. */
export interface EmailFilter {
  /** UUIDs, lower-case; that of a merged thread leads to the current one. */
  readonly threadId: string | null;
  readonly customerId: string | null;
  readonly companyId: string | null;
  readonly direction: 'inbound' | 'outbound' | null;
  /** A report said that a recipient did not receive it, or will not. */
  readonly bounced: boolean | null;
  /** Attached files; images that the HTML shows do not count. */
  readonly hasFiles: boolean | null;
  /** In the form of parseListId. */
  readonly listId: string | null;
  /** Its own, or the one that a mail server gave it. */
  readonly messageId: MessageId | null;
  /** A label of its thread. */
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
  messageId: null,
  label: null,
  recordedSince: null,
  scheduledSince: null,
  scheduledUntil: null,
};

export interface EmailsQuery extends AccountFilter {
  /** Default: none. */
  readonly filter?: EmailFilter;
  /** The words that they must contain; null: any. */
  readonly search: SearchQuery | null;
  readonly state: EmailState | null;
  readonly defect: ListedDefect | null;
  /** In the form of parseTag. */
  readonly tag: string | null;
  readonly limit: number;
  /** Where the previous page ended; null for the first. */
  readonly after: { readonly date: Date; readonly id: string } | null;
}

/** Defects that an operator looks for: only the bytes of the email could be kept. */
export const LISTED_DEFECTS = ['not_parsed'] as const satisfies readonly ParseDefect[];

export type ListedDefect = (typeof LISTED_DEFECTS)[number];

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface EmailStore {
  /** Newest first, at most `limit`. */
  listEmails(query: EmailsQuery): Promise<EmailPage>;
  /** Newest first, at most `limit`. */
  listCustomerEmails(query: CustomerEmailsQuery): Promise<EmailPage>;
  readEmail(id: string): Promise<EmailDetail | null>;
  /** The location of the raw message. */
  readRaw(id: string): Promise<RawLocation | null>;
  /** null when the email has no such variant. */
  readVariant(emailId: string, id: string): Promise<VariantDetail | null>;
  readVariantRaw(emailId: string, id: string): Promise<RawLocation | null>;
  readAttachment(id: string): Promise<StoredAttachment | null>;
}
