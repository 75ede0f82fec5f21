/** The database operations that recording a send needs. */
import type { Placement } from '../emails/email-ports.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
import type { Address } from '../../core/address/address.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AutoSubmitted } from '../../core/delivery/loop-guard.ts';
import type { QueuedSend } from '../../core/delivery/priority.ts';
import type { EmailState, RecipientOutcome, RecordedAttempt } from '../../core/delivery/states.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { NewEmail } from '../../core/thread/new-email.ts';
import type { PlacementFacts, PlacementQuery } from '../../core/thread/place-outbound.ts';

/** Everything that the database stores of one outbound email, in one piece. */
export interface OutboundRecord extends RecordedOutcome, RecordedRaw {
  readonly id: string;
  readonly accountId: string;
  readonly threadId: string;
  readonly placement: Placement;
  readonly messageId: MessageId;
  readonly inReplyTo: readonly MessageId[];
  readonly references: readonly MessageId[];
  /** See nextThreadIndex. */
  readonly threadIndex?: string | null;
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  /** Never null: HTML-only mail is rendered to text. */
  readonly textBody: string;
  readonly htmlBody: string | null;
  readonly date: Date;
  readonly customerId: string | null;
  readonly companyId: string | null;
  readonly attachments: readonly StoredAttachment[];
  /** The answer to an invitation that it is; null or absent: none. */
  readonly invitation?: Invitation | null;
  /** null when a person wrote it. */
  readonly autoSubmitted?: AutoSubmitted | null;
  readonly replyTo?: readonly Address[];
  /** The header fields that the caller added; see readCustomHeaders. */
  readonly headers?: CustomHeaders;
  /** Without duplicates; see readTags. */
  readonly tags?: readonly string[];
  /** A JSON object on one line; null for none. */
  readonly metadata?: string | null;
  /** The address of the automatic exchange that it is part of, in lower case; null for none. */
  readonly exchangeWith?: string | null;
  /** The list that its recipient can leave; null for none. */
  readonly unsubscribeList?: string | null;
  /** The key that sent it; null: none. */
  readonly authorKeyId?: string | null;
  /** A thread that begins with it is open; default: it is done until something comes in. */
  readonly isByPerson?: boolean;
  /** It is put into the Sent mailbox of its account once it is sent. Default: it is not. */
  readonly keepsCopy?: boolean;
  /** Its sender wrote the message itself: it is never composed again. Default: it was composed here. */
  readonly isAsWritten?: boolean;
  /** It has the footer of its account. Default: it has none. */
  readonly hasFooter?: boolean;
  /** See subjectKeyOf; only in accounts that join by subject. */
  readonly subjectKey?: string | null;
}

/** The part of a record that the hand-over adds. */
export interface RecordedOutcome {
  readonly state: EmailState;
  /** English reason of `failed`, `unknown` and `deferred`, and what a `sent` email lacks; null otherwise. */
  readonly stateDetail: string | null;
  readonly deliveries: readonly RecipientOutcome[];
  /** The hand-over; null when none was made yet. */
  readonly attempt: RecordedAttempt | null;
  /** null when no recipient is to be tried (again). */
  readonly queue: QueuedSend | null;
  /** How long it took; see docs/schema.sql. null: it is not sent, or the time is unknown. */
  readonly tookMs?: number | null;
  /** The Message-ID that the relay reports instead of ours; null when it kept ours. */
  readonly relayMessageId: MessageId | null;
}

export interface RecordedSend {
  /** Records that claim to be copies of it already existed; see compareCopies. */
  readonly cameBack: boolean;
  /** Paths of the copy's files, which nothing refers to any more. */
  readonly orphans: readonly string[];
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface OutboundStore {
  /** The facts needed to place an outbound email, in one round trip. */
  readPlacementFacts(query: PlacementQuery): Promise<PlacementFacts>;
  /**
   * The listed emails of the thread that were recorded after this one, the oldest first; when the thread does not have it, its
   * last ones.
   */
  readNewer(threadId: string, emailId: string): Promise<readonly NewEmail[]>;
  /**
   * Records an outbound email once, whole or not at all. A repeat with the same id changes nothing, so it may be called
   * again after any failure. Calls at the same moment share one commit. A record that claims to be a copy of it and was
   * recorded before is merged into it: its identifier becomes an alias, its content a variant.
   *
   * @param ifNewest the email that must be the last recorded one of the thread. It is compared while the thread is locked, so
   * of several sends at the same moment one is recorded; the others throw `thread_has_moved_on`. null: it is not compared.
   */
  recordOutbound(record: OutboundRecord, ifNewest?: string | null): Promise<RecordedSend>;
}
