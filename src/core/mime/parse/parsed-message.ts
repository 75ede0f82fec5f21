/**
 * A received message after parsing. Whatever it says was written by a stranger.
 */
import type { Address } from '../../address/address.ts';
import type { MessageId } from '../../message/message-id.ts';
import type { HeaderField } from './header-fields.ts';
import type { TransferEncoding } from './transfer-decoding.ts';

/** What was wrong with a message. Names are stable: they are recorded and shown. */
export const PARSE_DEFECTS = [
  // Header
  'missing_from',
  'missing_message_id',
  'invalid_message_id',
  'missing_date',
  'invalid_date',
  'invalid_address',
  'duplicate_field',
  'malformed_header',
  'header_without_end',
  // Structure
  'missing_boundary',
  'missing_closing_boundary',
  'multipart_without_parts',
  'unknown_encoding',
  'limit_passed',
  'not_parsed',
  // Why not, beside it
  'reading_took_too_long',
  'reading_took_too_much_memory',
  'reading_failed',
  // Content
  'unknown_charset',
  'wrong_charset',
  'invalid_characters',
  'html_text_cut',
  'tnef_not_unpacked',
] as const;
export type ParseDefect = (typeof PARSE_DEFECTS)[number];

/** Signed or encrypted: RFC 8551 (S/MIME), RFC 3156 (PGP/MIME), RFC 9580 §6 (PGP armour in the text). */
export type Protection = 'smime_signed' | 'smime_encrypted' | 'pgp_signed' | 'pgp_encrypted' | 'pgp_inline';

/** Where the bytes of an attachment are. */
export type AttachmentContent =
  /**
   * From `start` to before `end` of the raw message, in bytes, to be decoded by decodeTransfer or decodeTransferStream.
   */
  | {
      readonly kind: 'range';
      readonly start: number;
      readonly end: number;
      readonly encoding: TransferEncoding;
    }
  /** Came out of a winmail.dat, or of a multipart in Base64. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

export interface ParsedAttachment {
  /** Path of the part, such as `1.2` (RFC 9051 §6.4.5); for one out of a winmail.dat, that of the winmail.dat. */
  readonly partPath: string;
  /** As displayFilename gives it; made up when the message names none. */
  readonly filename: string;
  /** `type/subtype`, lower-case. */
  readonly contentType: string;
  /** As labelled; null when there is none. */
  readonly charset: string | null;
  /** Without angle brackets (RFC 2392); null when there is none. */
  readonly contentId: string | null;
  /** Shown within the HTML body: that refers to its Content-ID, or it is an image that says so itself. */
  readonly inline: boolean;
  readonly content: AttachmentContent;
}

/** A calendar part (RFC 6047). It stands among the attachments as well. */
export interface CalendarPart {
  readonly partPath: string;
  /** Upper-case, such as `REQUEST`; null when the part names none. */
  readonly method: string | null;
  /** iCalendar, RFC 5545, with `\n` line ends. */
  readonly text: string;
}

/**
 * A part that says something about another message: `message/delivery-status` (RFC 3464), `message/feedback-report`
 * (RFC 5965), `message/disposition-notification` (RFC 8098), `text/rfc822-headers`, `message/rfc822`, and
 * `application/json`, as Amazon SES has it. All but those of the RFCs 3464, 5965 and 8098 are attachments as well.
 */
export interface ReportPart {
  readonly partPath: string;
  readonly contentType: string;
  /** Decoded; of a contained message the first 65,536 encoded bytes. */
  readonly bytes: Buffer;
}

export interface ParsedMessage {
  /** All fields of the header, for those that have no property of their own here. */
  readonly fields: readonly HeaderField[];
  /** Normalised; null when there is none that could be quoted. */
  readonly messageId: MessageId | null;
  /** As it is written, where that is not the normalised form; null else. */
  readonly writtenMessageId: MessageId | null;
  /** Of a second field Message-ID, normalised; null for none. */
  readonly otherMessageId: MessageId | null;
  /** Nearly always one. As they are written, but for the addresses of the message's people. */
  readonly inReplyTo: readonly MessageId[];
  /** Oldest first. As they are written, but for the addresses of the message's people. */
  readonly references: readonly MessageId[];
  /** Nearly always one. Addresses that could not be read have an empty domain and their text as local part. */
  readonly from: readonly Address[];
  readonly sender: Address | null;
  readonly replyTo: readonly Address[];
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  /** Only in copies of sent mail. */
  readonly bcc: readonly Address[];
  /** Decoded, one line without controls; empty when there is none. */
  readonly subject: string;
  /** null when there is none that could be read. */
  readonly date: Date | null;
  /** `\n` line ends, no NUL, well-formed. HTML is rendered where no plain text came; empty when there is neither. */
  readonly text: string;
  /** As sent, not sanitised; null when there is none. */
  readonly html: string | null;
  readonly attachments: readonly ParsedAttachment[];
  readonly calendars: readonly CalendarPart[];
  readonly reports: readonly ReportPart[];
  /** Content type of the whole message, `type/subtype`, lower-case. */
  readonly contentType: string;
  /** The parameter `report-type` (RFC 6522 §3), lower-case, such as `delivery-status`; null when there is none. */
  readonly reportType: string | null;
  readonly protection: Protection | null;
  /**
   * What its texts and attachments say, SHA-256 in lower-case hex: the same whatever header fields, line ends and
   * transfer encodings a path made (content-digest.ts).
   */
  readonly contentDigest: string;
  /** Size of the raw message. */
  readonly sizeBytes: number;
  /** Each once. */
  readonly defects: readonly ParseDefect[];
}
