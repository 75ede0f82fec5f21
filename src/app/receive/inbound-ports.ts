/** The database operations that receiving needs. */
import type { Address } from '../../core/address/address.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { KeyedContent, MessageIdentity } from '../../core/message/identity.ts';
import type { CopyContent } from '../../core/message/copy-content.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { SentCandidate } from '../../core/message/sent-copy.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { ParseDefect, Protection } from '../../core/mime/parse/parsed-message.ts';
import type { InboundLink } from '../../core/thread/place-inbound.ts';
import type { RecordedRaw } from '../files/file-ports.ts';
import type { StoredAttachment } from '../emails/email-ports.ts';
import type { RecordedReport } from './report-ports.ts';
import type { MailSource } from '../emails/variant-view.ts';

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
  /** Its base subject, in an account that joins by subject; null in other accounts, and for an empty one. */
  readonly bySubject: {
    readonly key: string;
    readonly isReply: boolean;
    readonly windowDays: number;
  } | null;
}

/** An email that is recorded already. */
export interface KnownEmail {
  readonly id: string;
  readonly messageId: MessageId;
  readonly threadId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly state: EmailState;
  /** The digest of its recorded content; null for an email that this service composed. */
  readonly contentDigest: string | null;
  /** It was deleted: only its thread and its identity are still known. */
  readonly isDeleted: boolean;
}

/** The header fields of a Sent copy, for an email that was recorded as a received one. */
export type SentCopy = Pick<InboundRecord, 'from' | 'to' | 'cc' | 'bcc'>;

/** `known`: the same email was recorded before, by this path or another, or it is one that was sent from here. */
export type InboundResult = { readonly kind: 'recorded' | 'known' } & KnownEmail;

/** A sent email that took the place of its copies. */
export interface AdoptedCopy extends KnownEmail {
  /** Records of copies were merged into it; see compareCopies. */
  readonly hasAbsorbed: boolean;
  /** Paths of files that nothing refers to any more. */
  readonly orphans: readonly string[];
}

/** The values by which an email is found. */
export interface SoughtEmail {
  readonly accountId: string;
  readonly identity: MessageIdentity;
  /** The first of its keys that is asked for. */
  readonly key: string;
  /** See `InboundRecord`. */
  readonly sharedKey: string | null;
  /** null: not known. Of a deleted email only that content is deleted, unless this service composed it. */
  readonly content: KeyedContent | null;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface InboundStore {
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
  /**
   * Returns when every sent email of the account that was being recorded at the time of the call is recorded, or has
   * failed to be.
   */
  awaitSends(accountId: string): Promise<void>;
  /**
   * Emails that this service sent from the account, or may have sent, in the same second as the copy to one of its
   * recipients, or under a Message-ID that the copy had before; in one round trip.
   */
  findSends(accountId: string, copy: CopyContent): Promise<readonly SentCandidate[]>;
  /**
   * Records the Message-ID of a copy as the one that the relay gave a sent email. Threads that contain it are merged, and
   * a record of the copy is merged into the sent email: its identifier becomes an alias. null when the sent email has
   * received another relay's Message-ID meanwhile.
   */
  adoptCopy(sendId: string, messageId: MessageId): Promise<AdoptedCopy | null>;
}
