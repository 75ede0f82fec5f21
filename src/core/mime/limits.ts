/**
 * The bounds of composing messages, naming files and rendering HTML, with unit and origin.
 */

/** One encoded word, in characters. RFC 2047 §2. */
export const ENCODED_WORD_CHARS = 75;

/**
 * Where header lines are folded, in characters without CRLF. RFC 5322 §2.1.1 asks for 78, RFC 2047 §2 for 76 where
 * encoded words stand.
 */
export const FOLD_AT_CHARS = 76;

/**
 * A word of a header that would be longer, in characters, is encoded, so that the line can be folded. Also what is
 * left of the first line for an encoded word, behind the longest field name before one (`Subject: `).
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

/** What counts as an extension and survives shortening, in octets with its dot. Ours. */
export const MAX_EXTENSION_OCTETS = 32;

/** The ASCII stand-in of a file name, in characters. Ours: one header line. */
export const MAX_ASCII_FILENAME_CHARS = 60;

/** HTML that is rendered to text, in UTF-16 units. Ours: a long newsletter has 0.2 million. */
export const MAX_HTML_CHARS = 2_000_000;

/** Tags of HTML that the rendering library gets. Ours: its worst case then takes about 0.1 s. */
export const MAX_HTML_TAGS = 5000;

/**
 * Nesting of HTML that the rendering library follows. Ours: newsletters have 40 to 80; each quoted level is repeated in
 * front of each of its lines, so the text grows with it.
 */
export const MAX_HTML_DEPTH = 100;
