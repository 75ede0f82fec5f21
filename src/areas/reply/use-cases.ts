/** The use cases of replies and forwards that the edges call. */
import type { CheckedEmail, SendOnceResult, SendRequest, SendResult } from '../send/use-cases.ts';
import type { AttachmentView } from '../emails/email-ports.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { InvitationAnswerStatus } from '../../core/calendar/compose-answer.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { ReplyLanguage } from '../../core/reply/quote.ts';

/** `reply` to its writer, `reply_all` to its other recipients too, `forward` to others. */
export const REPLY_KINDS = ['reply', 'reply_all', 'forward'] as const;
export type ReplyKind = (typeof REPLY_KINDS)[number];

/** The fields that a send takes from the email that it answers, unless the caller gives them. */
type Derived = 'to' | 'cc' | 'subject';
/** A reply joins the thread of the email that it answers, regardless of its sender. */
type Decided = Derived | 'inReplyTo' | 'threadId' | 'accountId' | 'isByPerson';

export interface ReplyOptions {
  /** The email that is answered or forwarded: UUID, lower-case. */
  readonly emailId: string;
  readonly kind: ReplyKind;
  /** The language of the attribution, and of the header block of a forward. */
  readonly language: ReplyLanguage;
  /** IANA name that the runtime knows. */
  readonly timeZone: string;
}

/** The answer of a person to an invitation; its text is made of it. */
export interface InvitationAnswer {
  readonly status: InvitationAnswerStatus;
  /** null for none. */
  readonly comment: string | null;
  /** The organizer's address, as a caller confirms it; needed where it is not the sender's. null: not named. */
  readonly organizer: string | null;
}

/** A reply as the caller requested it. */
export interface ReplyRequest extends ReplyOptions {
  /** The answered email is quoted below the new text. A forward without a quote has only its files. */
  readonly quote: boolean;
  /** A forward includes the files of the email; no meaning for a reply. */
  readonly withFiles: boolean;
  /** Answers the invitation in the email, in place of a reply; `kind` is `reply`. */
  readonly invitation?: InvitationAnswer;
  /** All files together, given and included, in bytes, and their number. */
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  /** Fields that are null come from the email. */
  readonly message: Omit<SendRequest, Decided> & {
    readonly to: readonly string[] | null;
    readonly cc: readonly string[] | null;
    readonly subject: string | null;
  };
}

/** A preview of a reply, for a page on which a person writes it. */
export interface ReplyPreview {
  readonly emailId: string;
  readonly kind: ReplyKind;
  readonly accountId: string;
  readonly threadId: string;
  readonly inReplyTo: MessageId;
  /** null: the account is none of this process. */
  readonly from: AddressView | null;
  readonly to: readonly AddressView[];
  readonly cc: readonly AddressView[];
  readonly subject: string;
  readonly quoteText: string;
  readonly quoteHtml: string;
  /** Something in the email was too long, or nested too deep, and is left out of the quote. */
  readonly isQuoteCut: boolean;
  /** The files that a forward includes; empty for a reply. */
  readonly attachments: readonly AttachmentView[];
}

export interface ReplyUseCases {
  /** Throws `email_not_found`. */
  previewReply(
    options: ReplyOptions & {
      /** The key that asks; null: a secret. */
      readonly authorKeyId: string | null;
    },
  ): Promise<ReplyPreview>;
  /** Like `sendMessage`; in addition `email_not_found`, `content_missing`, and with an invitation the errors of answerInvitation. */
  sendReply(request: ReplyRequest, folder: SpoolFolder): Promise<SendResult>;
  /** Like `checkSend`; in addition `email_not_found`, `content_missing`. */
  checkReply(request: ReplyRequest, folder: SpoolFolder): Promise<CheckedEmail>;
  /** Like `sendOnce`. A repeat is recognised by the caller's request, whatever became of the email meanwhile. */
  sendReplyOnce(key: string, request: ReplyRequest, folder: SpoolFolder): Promise<SendOnceResult>;
}
