/** What the edges ask of replies and forwards. */
import type { SendOnceResult, SendRequest, SendResult } from '../send/use-cases.ts';
import type { AddressView, AttachmentView } from '../emails/email-ports.ts';
import type { SpoolFolder } from '../files/file-ports.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import type { ReplyLanguage } from '../../core/reply/quote.ts';

/** `reply` to its writer, `reply_all` to its other recipients too, `forward` to others. */
export const REPLY_KINDS = ['reply', 'reply_all', 'forward'] as const;
export type ReplyKind = (typeof REPLY_KINDS)[number];

/** Where a send gets these from the email it answers, unless the caller gives them. */
type Derived = 'to' | 'cc' | 'subject';
type Decided = Derived | 'inReplyTo' | 'threadId' | 'accountId';

export interface ReplyOptions {
  /** The email that is answered or forwarded: UUID, lower-case. */
  readonly emailId: string;
  readonly kind: ReplyKind;
  /** Of the attribution, and of the header block of a forward. */
  readonly language: ReplyLanguage;
  /** IANA name that the runtime knows. */
  readonly timeZone: string;
}

/** A reply as the caller asked for it. */
export interface ReplyRequest extends ReplyOptions {
  /** Below what the person wrote stands what it answers. A forward without it has only its files. */
  readonly quote: boolean;
  /** A forward takes the files of the email along; no meaning for a reply. */
  readonly withFiles: boolean;
  /** All files together, given and taken along, in bytes, and their number. */
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  /** What is null comes from the email. */
  readonly message: Omit<SendRequest, Decided> & {
    readonly to: readonly string[] | null;
    readonly cc: readonly string[] | null;
    readonly subject: string | null;
  };
}

/** What a reply would be, for a page that lets a person write it. */
export interface ReplyPreview {
  readonly emailId: string;
  readonly kind: ReplyKind;
  readonly accountId: string;
  readonly threadId: string;
  readonly inReplyTo: MessageId;
  readonly to: readonly AddressView[];
  readonly cc: readonly AddressView[];
  readonly subject: string;
  readonly quoteText: string;
  readonly quoteHtml: string;
  /** Something of the email was too long, or quoted too deep, and is left out of the quote. */
  readonly isQuoteCut: boolean;
  /** The files that a forward takes along; empty for a reply. */
  readonly attachments: readonly AttachmentView[];
}

export interface ReplyUseCases {
  /** Throws `email_not_found`. */
  previewReply(options: ReplyOptions): Promise<ReplyPreview>;
  /** As `sendMessage`; beyond it `email_not_found`, `content_missing`. */
  sendReply(request: ReplyRequest, folder: SpoolFolder): Promise<SendResult>;
  /** As `sendOnce`. A repeat is told by what the caller asked for, whatever became of the email meanwhile. */
  sendReplyOnce(key: string, request: ReplyRequest, folder: SpoolFolder): Promise<SendOnceResult>;
}
