/** The use cases of sending that the edges call. */
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import type { Address } from '../../core/address/address.ts';
import type { TemplateUse } from '../templates/template-ports.ts';
import type { SendAttachment } from './take-references.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AutoSubmitted } from '../../core/delivery/loop-guard.ts';
import type { Priority } from '../../core/delivery/priority.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { Metadata } from '../../core/message/tags.ts';

/** A send as the caller requested it: types are checked, contents are not. */
export interface SendRequest {
  /** RFC 5322 address lists; each string may hold several. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  /** Message-ID with or without angle brackets. */
  readonly inReplyTo: string | null;
  /** If several recorded emails have the Message-ID of `inReplyTo`, the answered one: its UUID. */
  readonly answeredEmailId?: string;
  /** UUIDs, lower-case. */
  readonly threadId: string | null;
  /**
   * The email of the thread that was recorded last, as far as the writer has seen it: its UUID, lower-case. The send is refused
   * with `thread_has_moved_on` when the thread has a newer one. Absent: it is not checked.
   */
  readonly ifNewest?: string;
  readonly customerId: string | null;
  readonly companyId: string | null;
  /** null: the thread's account, otherwise the default one. */
  readonly accountId: string | null;
  readonly attachments: readonly SendAttachment[];
  /** The answer to an invitation that it is; null or absent: none. */
  readonly invitation?: Invitation | null;
  /** True: only put it into the queue, and answer at once. */
  readonly respondAsync: boolean;
  /** Send it then, from the queue; null: now. */
  readonly sendAt: Date | null;
  /** In the queue; null: `normal`. */
  readonly priority: Priority | null;
  /** In the queue; lanes of one priority take turns. null: `reply` when it joins a thread, else `new`. */
  readonly lane: string | null;
  /** For an email that no person wrote; null for any other. */
  readonly autoSubmitted: AutoSubmitted | null;
  /** Like `to`: the addresses for answers. */
  readonly replyTo: readonly string[];
  /** One address that the account sends as, perhaps with a name; null or absent: that of the account. */
  readonly from?: string | null;
  /** With the signature of the address, or of the account. Default: without. */
  readonly signature?: boolean;
  /** False: without the footer of the account, which only administrators may leave out. Default: with it. */
  readonly footer?: boolean;
  /** Puts what is below the signature and the footer: the quote of an answer. Default: nothing. */
  readonly addBelow?: (
    written: Pick<SendRequest, 'textBody' | 'htmlBody'>,
  ) => Pick<SendRequest, 'textBody' | 'htmlBody'>;
  /** Shown beside the account's address in From; null: the account's own. */
  readonly fromName: string | null;
  readonly headers: CustomHeaders;
  readonly tags: readonly string[];
  /** Empty for none. */
  readonly metadata: Metadata;
  /** The list that the recipient can leave; null: none. */
  readonly unsubscribeList: string | null;
  /** The key that sends; null: none, as with a secret of `API_SECRET`. */
  readonly authorKeyId: string | null;
  /** For signatures. Default: empty. */
  readonly authorName?: string;
  /** A person sends it in a session of the page; else a program, and a thread that begins with it is done. */
  readonly isByPerson: boolean;
  /** Supplies subject and bodies that the request does not contain. null: none. */
  readonly template: TemplateUse | null;
}

/** A send without the one who sends it. */
export type AskedSend = Omit<SendRequest, 'authorKeyId' | 'authorName' | 'isByPerson'>;

/** The changes of a waiting send; absent fields stay. */
export interface SendChange {
  /** null: now. */
  readonly sendAt?: Date | null;
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  /**
   * Text and HTML are changed together: no recipient may read an old version of one of them, and none is removed without being named.
   * A text of null is made from the HTML.
   */
  readonly body?: Partial<Pick<SendRequest, 'textBody' | 'htmlBody'>>;
  /** All files that it has from now on. */
  readonly attachments?: readonly SendAttachment[];
}

/**
 * `sent`: sent and stored; deferred recipients are retried automatically. `queued`: stored, and sent from the queue.
 * `partial`: sent, and stored automatically as soon as that is possible.
 */
export type SendResult =
  | {
      readonly kind: 'sent';
      readonly id: string;
      readonly messageId: MessageId;
      readonly threadId: string;
      /** Recipients that the mail server refused or deferred while it took others; absent if there are none. */
      readonly notAccepted?: readonly RecipientOutcome[];
    }
  | {
      readonly kind: 'queued';
      readonly id: string;
      readonly messageId: MessageId;
      readonly threadId: string;
    }
  | { readonly kind: 'partial'; readonly messageId: MessageId; readonly error: string };

/** The email that a send would be: the result of its dry run. */
export interface CheckedEmail {
  /** True: it would be put into the queue; false: handed over at once. */
  readonly queued: boolean;
  readonly accountId: string;
  /** null: a thread would begin. */
  readonly threadId: string | null;
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  /** As it would be sent: templates are filled in, and HTML has a text beside it. */
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  readonly sendAt: Date | null;
  readonly attachments: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly sizeBytes: number;
  }[];
  /** Of the whole message. */
  readonly sizeBytes: number;
}

/** The failure of a send that was tried. */
export interface SendFailure {
  readonly kind: 'failed';
  readonly code: 'send_failed' | 'send_deferred' | 'send_unknown' | 'email_deleted';
  /** The email, which is recorded, or will be; absent when it is deleted. */
  readonly id?: string;
  /** English; null when nothing more is known. */
  readonly details: string | null;
}

/** The outcome of a send that was tried. JSON values only: an idempotency key keeps it. */
export type SendOutcome = SendResult | SendFailure;

export interface SendOnceResult {
  readonly outcome: SendOutcome;
  /** True when an earlier request with the same key sent, or tried to; this one did nothing. */
  readonly replayed: boolean;
}

/** In the operators' acts, `keyId` is the key that acts, which the events contain; null: none. */
export interface SendUseCases {
  /**
   * Sends one email and records it. Takes over `folder`, which holds the large attachments: it is removed when nothing
   * needs it any more. Throws ServiceError, including `recipient_suppressed`; nothing was sent unless the code is
   * `send_unknown`.
   */
  sendMessage(request: SendRequest, folder: SpoolFolder): Promise<SendResult>;
  /**
   * The dry run of `sendMessage`: throws its errors about the request, and `recipient_suppressed`. Writes nothing. Takes over
   * `folder`.
   */
  checkSend(request: SendRequest, folder: SpoolFolder): Promise<CheckedEmail>;
  /**
   * `sendMessage` for the first request with this key (1 to 256 visible ASCII characters), and its outcome for the
   * repeats, for at least 24 hours. Throws the errors of `sendMessage`, and in addition `idempotency_key_reused`,
   * `idempotency_in_progress` and, with nothing sent, `database_unavailable`.
   */
  sendOnce(key: string, request: SendRequest, folder: SpoolFolder): Promise<SendOnceResult>;
  /**
   * Changes a queued send that no process has claimed yet, if it has this version. Takes over `folder`. Throws the errors
   * of `sendMessage` about a request, `email_not_found`, `not_editable`, and `email_changed` with the current version.
   */
  changeSend(
    id: string,
    version: number,
    change: SendChange,
    folder: SpoolFolder,
    keyId: string | null,
  ): Promise<EmailDetail>;
}
