/** The database operations that receiving needs. */
import type { AbsenceRequest } from '../absence/absence-ports.ts';
import type { KnownEmail, SoughtEmail } from '../emails/find-recorded.ts';
import type { CopyMatching } from '../send/rewritten-copies.ts';
import type { Address } from '../../core/address/address.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { KeyedContent, MessageIdentity } from '../../core/message/identity.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { ParseDefect, Protection } from '../../core/mime/parse/parsed-message.ts';
import type { InboundLink } from '../../core/thread/place-inbound.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { RecordedReport } from '../send/report-rows.ts';
import type { MailSource } from '../../core/message/mail-source.ts';

/**
 * Everything that the database stores of one received email or Sent copy, in one piece. Texts hold no NUL and are
 * well-formed.
 */
export interface InboundRecord extends RecordedRaw, KeyedContent {
  readonly id: string;
  readonly accountId: string;
  /** See `ReceiveRequest`. */
  readonly isSentCopy: boolean;
  /** See `ReceiveRequest`; means nothing for a Sent copy. */
  readonly isRead: boolean;
  /** Used when there is nothing to join. */
  readonly newThreadId: string;
  readonly identity: MessageIdentity;
  /** See identityKey, contentKeys and bytesKey. */
  readonly identityKey: string;
  /** The key of its identity, when another email has it; null: `identityKey` is it. */
  readonly sharedKey: string | null;
  /** All of them tie the email to its thread; the first known one is its reason. */
  readonly links: readonly InboundLink[];
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
  /** See ParsedMessage. */
  readonly writtenMessageId: MessageId | null;
  /** See ParsedMessage; the email is recognised by this one, too. */
  readonly otherMessageId: MessageId | null;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  /** See readThreadIndex. */
  readonly threadIndex: string | null;
  /** See readListId. */
  readonly listId: string | null;
  readonly from: Address | null;
  readonly sender: Address | null;
  readonly replyTo: readonly Address[];
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  readonly textBody: string;
  readonly htmlBody: string | null;
  /** The new text, without quotes. */
  readonly replyText: string;
  /** Without a Date that can be read, the time when it came; see `ReceiveRequest`. */
  readonly date: Date;
  readonly defects: readonly ParseDefect[];
  /** null when it is neither signed nor encrypted. */
  readonly protection: Protection | null;
  readonly invitation: Invitation | null;
  readonly automatic: AutomaticMail | null;
  /** See suggestCounterparty. */
  readonly suggestedCounterparty: SuggestedCounterparty | null;
  /** The report in it about a sent email; null when it is no such report. */
  readonly report: RecordedReport | null;
  /** See readAggregateReport. */
  readonly aggregate: AggregateReport | null;
  readonly attachments: readonly StoredAttachment[];
  /** null when it is not known. */
  readonly receivedBy: MailSource | null;
  /** The time from its arrival until it was recorded; null or absent: not known. */
  readonly tookMs?: number | null;
  /** null when no trusted source reports anything about its sender. */
  readonly authentication: MailAuthentication | null;
  /** It may be answered in the absence of the account; null or absent: it is not. */
  readonly absence?: AbsenceRequest | null;
  /** Its base subject, in an account that joins by subject; null in other accounts, and for an empty one. */
  readonly bySubject: {
    readonly key: string;
    readonly isReply: boolean;
    readonly windowDays: number;
  } | null;
}

/** The header fields of a Sent copy, for an email that was recorded as a received one. */
export type SentCopy = Pick<InboundRecord, 'from' | 'to' | 'cc' | 'bcc'>;

/** `known`: the same email was recorded before, by this path or another, or it is one that was sent from here. */
export type InboundResult = { readonly kind: 'recorded' | 'known' } & KnownEmail;

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface InboundStore extends CopyMatching {
  /**
   * The email with that identity, received before or sent from here; else the one with that content that was recorded beside it;
   * null when there is none.
   */
  findKnown(email: SoughtEmail): Promise<KnownEmail | null>;
  /**
   * Records an email once, whole or not at all, joins and merges threads by its links, and gives it the thread's
   * customer, or else the one that its counterparty's address was learned for. Also decides if the sender of a received
   * email is new to the thread.
   */
  recordInbound(record: InboundRecord): Promise<InboundResult>;
  /** The email with that identity and content may be recorded again. */
  forgetDeletion(email: SoughtEmail): Promise<void>;
  /** Turns a received email into one that was sent from the account; does nothing when it is outbound already. */
  turnIntoSent(id: string, copy: SentCopy): Promise<void>;
}
