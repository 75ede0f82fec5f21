/**
 * A received message after parsing. All of its content was written by a stranger.
 */
import type { Address } from '../../address/address.ts';
import type { Invitation } from '../../calendar/invitation.ts';
import type { MessageId } from '../../message/message-id.ts';
import type { HeaderField } from './header-fields.ts';
import type { TransferEncoding } from './transfer-decoding.ts';

/** Defects of a message. Names are stable: they are recorded and shown. */
export const PARSE_DEFECTS = [
  // Header
  'missing_from',
  'missing_message_id',
  'invalid_message_id',
  'missing_date',
  'invalid_date',
  'uncertain_date',
  'invalid_address',
  'duplicate_field',
  'malformed_header',
  'header_without_end',
  // Structure
  'missing_boundary',
  'missing_closing_boundary',
  'multipart_without_parts',
  'unknown_encoding',
  'wrong_encoding',
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
  'damaged_calendar',
] as const;
export type ParseDefect = (typeof PARSE_DEFECTS)[number];

/**
 * Signed or encrypted: RFC 8551 (S/MIME), RFC 3156 (PGP/MIME), RFC 9580 §6 (PGP armour in the text). Signatures are not
 * verified.
 */
export const PROTECTIONS = ['smime_signed', 'smime_encrypted', 'pgp_signed', 'pgp_encrypted'] as const;
export type Protection = (typeof PROTECTIONS)[number];

/** The location of an attachment's bytes. */
export type AttachmentContent =
  /**
   * Bytes `start` to `end` (exclusive) of the raw message, to be decoded by decodeTransfer or decodeTransferStream.
   */
  | {
      readonly kind: 'range';
      readonly start: number;
      readonly end: number;
      readonly encoding: TransferEncoding;
    }
  /** Extracted from a winmail.dat, or from a multipart in Base64. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

export interface ParsedAttachment {
  /** Path of the part, such as `1.2` (RFC 9051 §6.4.5); for a file from a winmail.dat, that of the winmail.dat. */
  readonly partPath: string;
  /** The result of displayFilename; made up when the message names none. */
  readonly filename: string;
  /** `type/subtype`, lower-case; of a calendar with its method and charset. */
  readonly contentType: string;
  /** As labelled; null when there is none. */
  readonly charset: string | null;
  /** Without angle brackets (RFC 2392); null when there is none. */
  readonly contentId: string | null;
  /** Shown within the HTML body, which refers to its Content-ID; or an image that declares itself inline. */
  readonly inline: boolean;
  readonly content: AttachmentContent;
}

/**
 * A part about another message: `message/delivery-status` (RFC 3464), `message/feedback-report`
 * (RFC 5965), `message/disposition-notification` (RFC 8098), `text/rfc822-headers`, `message/rfc822`, and
 * `application/json`, as Amazon SES sends it. All but those of the RFCs 3464, 5965 and 8098 are attachments as well.
 */
export interface ReportPart {
  readonly partPath: string;
  readonly contentType: string;
  /** Decoded; of a contained message the first 65,536 encoded bytes. */
  readonly bytes: Buffer;
}

export interface ParsedMessage {
  /** All fields of the header, including those without a property of their own here. */
  readonly fields: readonly HeaderField[];
  /** Normalised; null when there is none that could be quoted. */
  readonly messageId: MessageId | null;
  /** As written, if that differs from the normalised form; else null. */
  readonly writtenMessageId: MessageId | null;
  /** The id in a second Message-ID field, normalised; null for none. */
  readonly otherMessageId: MessageId | null;
  /** Nearly always one. As written, without those that are addresses of the message's people. */
  readonly inReplyTo: readonly MessageId[];
  /** Oldest first. As written, without those that are addresses of the message's people. */
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
  /**
   * `\n` line ends, no NUL, well-formed. Rendered from HTML when there is no plain text, else worded from the invitation; empty when there is
   * nothing.
   */
  readonly text: string;
  /** As sent, not sanitised; null when there is none. */
  readonly html: string | null;
  readonly attachments: readonly ParsedAttachment[];
  /** Of the first calendar with an event (RFC 6047), which is among the attachments as well; null when there is none. */
  readonly invitation: Invitation | null;
  readonly reports: readonly ReportPart[];
  /** Content type of the whole message, `type/subtype`, lower-case. */
  readonly contentType: string;
  /** The parameter `report-type` (RFC 6522 §3), lower-case, such as `delivery-status`; null when there is none. */
  readonly reportType: string | null;
  readonly protection: Protection | null;
  /**
   * Digest of its texts and attachments, SHA-256 in lower-case hex: independent of the header fields, line ends and
   * transfer encodings that a path added (content-digest.ts).
   */
  readonly contentDigest: string;
  /** Digests of the parts that are not shown as text, and of what exceeds the limits; each like `contentDigest`. */
  readonly fileDigests: readonly string[];
  /** Size of the raw message. */
  readonly sizeBytes: number;
  /** Without repeats. */
  readonly defects: readonly ParseDefect[];
}
