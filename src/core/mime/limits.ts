/**
 * The bounds of composing messages, naming files and rendering HTML, with unit and origin.
 */

/** One encoded word, in characters. RFC 2047 §2. */
export const ENCODED_WORD_CHARS = 75;

/**
 * Length at which header lines are folded, in characters without CRLF. RFC 5322 §2.1.1 asks for 78, RFC 2047 §2 for 76 in
 * lines with encoded words.
 */
export const FOLD_AT_CHARS = 76;

/**
 * A longer word of a header, in characters, is encoded, so that the line can be folded. Also the room for an encoded word
 * in the first line, after the longest field name before one (`Subject: `).
 */
export const HEADER_WORD_CHARS = 64;

/** Lines of text sent as they are, in octets without CRLF. RFC 5322 §2.1.1 (SHOULD). */
export const TEXT_LINE_OCTETS = 78;

/** Lines of quoted-printable without CRLF. RFC 2045 §6.7 (5). */
export const QUOTED_PRINTABLE_LINE_CHARS = 76;

/**
 * Text is sent as base64 only when quoted-printable would be longer by this factor. Ours: text in Latin letters stays
 * readable in the source, which spam filters like; Cyrillic or Chinese text is 2.2 times as long and is not readable.
 */
export const QUOTED_PRINTABLE_ADVANTAGE = 1.5;

/** Bytes in one line of base64: 76 characters, RFC 2045 §6.8. */
export const BASE64_LINE_BYTES = 57;

/** Bytes of an attachment that are encoded at once when streaming: whole lines, about 58 kB. Ours. */
export const BASE64_BLOCK_BYTES = 1024 * BASE64_LINE_BYTES;

/** A content type as given, in characters. Ours. */
export const MAX_CONTENT_TYPE_CHARS = 1000;

/** `type` and `subtype`, in characters each. RFC 6838 §4.2. */
export const MAX_MEDIA_NAME_CHARS = 127;

/** Value of a content type's parameter, in characters. Ours; keeps its line below 998 octets, quotes and escapes too. */
export const MAX_PARAMETER_CHARS = 200;

/** A boundary, in characters. RFC 2046 §5.1.1. */
export const MAX_BOUNDARY_CHARS = 70;

/** A file name as shown, in octets of UTF-8. The longest name that common file systems take. */
export const MAX_DISPLAY_FILENAME_OCTETS = 255;

/** A file name as stored, in octets of UTF-8. Ours: leaves room for temporary suffixes within 255. */
export const MAX_STORAGE_FILENAME_OCTETS = 200;

/** An extension that survives shortening, in octets with its dot. Ours. */
export const MAX_EXTENSION_OCTETS = 32;

/** The ASCII stand-in of a file name, in characters. Ours: one header line. */
export const MAX_ASCII_FILENAME_CHARS = 60;

/** HTML that is rendered to text, in UTF-16 units. Ours: a long newsletter has 0.2 million. */
export const MAX_HTML_CHARS = 2_000_000;

/** Tags of HTML that the rendering library gets. Ours: its worst case then takes about 0.1 s. */
export const MAX_HTML_TAGS = 5000;

/** Nesting of HTML that the rendering library follows. Ours: newsletters have 40 to 80. */
export const MAX_HTML_DEPTH = 100;

/**
 * Marks that quotes and lists may write before their lines, each level before each line, in UTF-16 units; less for short
 * HTML. Ours: half of the longest text.
 */
export const MAX_HTML_MARK_CHARS = 1_000_000;

/** Numbers at which a list may start; a larger one is 1. Ours: every line gets the number's width as blanks. */
export const MAX_LIST_NUMBER = 999_999;

// Reading received mail. All are ours: above the values of real mail, below those that hurt.

/** Headers of all parts of one message together, in bytes. Real ones have 5,000 to 60,000. */
export const MAX_HEADER_BYTES = 1_000_000;

/** Header fields of all parts of one message together. Real ones have 20 to 300. */
export const MAX_HEADER_FIELDS = 10_000;

/** Parts of one message, multiparts counted. The largest digests seen have hundreds. */
export const MAX_PARTS = 1000;

/** Multiparts within multiparts. Real mail has up to 6. */
export const MAX_PART_DEPTH = 50;

/** Text and HTML of one message that are read, still encoded, in bytes together. */
export const MAX_TEXT_BYTES = 10_000_000;

/** Reports and the heads of contained messages of one message, still encoded, in bytes together; and the same of its calendars. */
export const MAX_REPORT_BYTES = 1_000_000;

/** Part of one contained message that is read, still encoded, in bytes: its header, and a small body. */
export const MAX_CONTAINED_MESSAGE_BYTES = 65_536;

/** Messages in messages that are entered for their digest. Real mail has up to 5 forwards in forwards, nearly all 1. */
export const MAX_CONTAINED_DEPTH = 3;

/** Texts of one contained message that are decoded for its digest, still encoded, in bytes; larger ones count as bytes. */
export const MAX_CONTAINED_TEXT_BYTES = 1_000_000;

/** A winmail.dat that is unpacked in memory, still encoded, in bytes. */
export const MAX_TNEF_BYTES = 32_000_000;

/** Attributes and properties of a winmail.dat. Real ones have hundreds. */
export const MAX_TNEF_ENTRIES = 20_000;

/** Braces within braces of the rich text in a winmail.dat; what is deeper is not read. Real ones have some ten. */
export const MAX_RTF_DEPTH = 200;

/**
 * Attachments of one message, including those from winmail.dat files; beyond it no winmail.dat is unpacked. Like MAX_PARTS;
 * real ones have dozens.
 */
export const MAX_UNPACKED_ATTACHMENTS = 1000;

/** Addresses in From, To, Cc and so on of one message together. */
export const MAX_MESSAGE_ADDRESSES = 5000;

/** A boundary of received mail, in characters. Seen in practice: more than the 70 of RFC 2046 §5.1.1. */
export const MAX_RECEIVED_BOUNDARY_CHARS = 250;

/** A line is read in pieces of at most this many bytes. Above any boundary and the 998 of RFC 5322 §2.1.1. */
export const MAX_LINE_PIECE_BYTES = 8192;

/** Empty lines before the header of a message. Real mail has one or two. */
export const MAX_LEADING_EMPTY_LINES = 100;

/** Trailing white space of a quoted-printable line that is held back, in bytes. RFC 2045 §6.7: lines have 76. */
export const MAX_TRAILING_SPACE_BYTES = 998;

/** A decoded subject, in UTF-16 units; a longer one is cut. */
export const MAX_READ_SUBJECT_CHARS = 10_000;

/** The name of a charset, in characters; the longest in use has about 20, including those that only iconv-lite reads. */
export const MAX_CHARSET_LABEL_CHARS = 64;

/** The beginning of HTML in which its charset is looked for, in bytes. HTML standard, 13.2.3.2. */
export const MAX_PRESCAN_BYTES = 1024;

/** Continuations of one parameter (RFC 2231 §3). */
export const MAX_PARAMETER_SECTIONS = 100;

/** Texts in which quotes are looked for, in UTF-16 units. Longer texts are kept whole; the work is about 5 µs per line. */
export const MAX_REPLY_CHARS = 500_000;

/** A Content-ID that a caller gives, in characters. Ours; its line stays far below 998 octets. */
export const MAX_CONTENT_ID_CHARS = 200;
