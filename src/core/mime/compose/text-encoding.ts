/**
 * Text bodies as 7-bit lines: as they are, quoted-printable (RFC 2045 §6.7) or base64, whichever arrives unchanged
 * at the lowest cost, with some preference for text that a person can read in the source.
 */
import { ServiceError } from '../../errors.ts';
import { encodeBase64Lines } from './base64.ts';
import { QUOTED_PRINTABLE_ADVANTAGE, QUOTED_PRINTABLE_LINE_CHARS, TEXT_LINE_OCTETS } from '../limits.ts';
import { isStorable } from '../../storable-text.ts';

export interface EncodedText {
  readonly transferEncoding: '7bit' | 'quoted-printable' | 'base64';
  /** 7-bit lines of at most 78 octets with CRLF between them; CRLF at the end only where the text has it. */
  readonly bytes: Buffer;
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const UPPER_F = 0x46;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');
const MBOX_FROM = Buffer.from('From ', 'latin1');

/** 1 for octets that quoted-printable never changes within a line: printable ASCII but `=` and space. */
const ALWAYS_LITERAL = new Uint8Array(256);
for (let byte = SPACE + 1; byte <= 0x7e; byte++) ALWAYS_LITERAL[byte] = byte === EQUALS ? 0 : 1;

/** Columns before a soft line break; the `=` takes the last one. */
const QP_COLUMNS = QUOTED_PRINTABLE_LINE_CHARS - 1;

/**
 * Encodes text in UTF-8 with CRLF line ends (any of CR, LF and CRLF given). `field` names the text in errors. Without
 * `keepsPlain`, lines are never sent as they are.
 * Throws `invalid_text` for NUL (RFC 5321 §2.3.8 hosts may drop it) and for lone surrogates, which UTF-8 lacks.
 */
export function encodeText(text: string, field: string, keepsPlain: boolean): EncodedText {
  if (!isStorable(text)) throw new ServiceError('invalid_text', { values: { field } });
  const bytes = Buffer.from(toCrlf(text), 'utf8');
  const { plain, quotedOctets, lines, hasControls } = measure(bytes);
  if (plain && keepsPlain) return { transferEncoding: '7bit', bytes };
  const base64Octets = Math.ceil(bytes.length / 3) * 4;
  // Readers, ours among them, take Base64 that decodes to control characters for clear text under a wrong label.
  if (!hasControls && quotedOctets > base64Octets * QUOTED_PRINTABLE_ADVANTAGE)
    return { transferEncoding: 'base64', bytes: encodeBase64Lines(bytes) };
  return { transferEncoding: 'quoted-printable', bytes: encodeQuotedPrintable(bytes, quotedOctets, lines) };
}

function toCrlf(text: string): string {
  // The regular expression costs several times as much and is rarely needed.
  return text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n');
}

interface TextMeasure {
  /** The text arrives unchanged without any encoding. */
  readonly plain: boolean;
  /** Octets as quoted-printable, without soft line breaks. */
  readonly quotedOctets: number;
  readonly lines: number;
  /** It has octets below TAB. */
  readonly hasControls: boolean;
}

/** Measures text with CRLF line ends in one pass. */
function measure(bytes: Buffer): TextMeasure {
  let plain = true;
  let escapes = 0;
  let lines = 1;
  let lineStart = 0;
  let hasControls = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (ALWAYS_LITERAL[byte] === 1 && at !== lineStart) continue;
    if (byte === LF) {
      // The line had at - 1 - lineStart octets before its CR.
      if (at - 1 - lineStart > TEXT_LINE_OCTETS) plain = false;
      lineStart = at + 1;
      lines++;
    } else if (byte === EQUALS) {
      escapes++;
    } else if (
      byte !== CR &&
      (isEscaped(bytes, at, byte) || isEscapedAtLineStart(bytes, at, at === lineStart))
    ) {
      plain = false;
      escapes++;
      hasControls ||= byte < TAB;
    }
  }
  if (bytes.length - lineStart > TEXT_LINE_OCTETS) plain = false;
  return { plain, quotedOctets: bytes.length + 2 * escapes, lines, hasControls };
}

/** `text` is UTF-8 with CRLF line ends. */
function encodeQuotedPrintable(text: Buffer, quotedOctets: number, lines: number): Buffer {
  // A soft break adds 3 octets, after at least 64 columns (a character takes up to 12), and may make one more escape
  // (2 octets) at the start of its line.
  const softBreaks = Math.ceil(quotedOctets / (QP_COLUMNS - 11 - 2)) + lines;
  const out = Buffer.allocUnsafe(quotedOctets + softBreaks * 5);
  let to = 0;
  let column = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (ALWAYS_LITERAL[byte] === 1 && column > 0 && column < QP_COLUMNS) {
      out[to++] = byte;
      column++;
      continue;
    }
    if (byte === CR || byte === LF) {
      out[to++] = byte;
      column = 0;
      continue;
    }
    // A character is kept in one line: seen in practice, readers that decode line by line.
    const escaped = isEscaped(text, at, byte);
    if (column + (escaped ? 3 * charOctets(byte) : 1) > QP_COLUMNS) {
      out[to++] = EQUALS;
      out[to++] = CR;
      out[to++] = LF;
      column = 0;
    }
    if (escaped || isEscapedAtLineStart(text, at, column === 0)) {
      out[to++] = EQUALS;
      out[to++] = HEX[byte >> 4] ?? 0;
      out[to++] = HEX[byte & 15] ?? 0;
      column += 3;
    } else {
      out[to++] = byte;
      column++;
    }
  }
  return out.subarray(0, to);
}

function isEscaped(text: Buffer, at: number, byte: number): boolean {
  // RFC 2045 §6.7 (3): some relays add or remove white space at the end of a line.
  if (byte === SPACE || byte === TAB) return isLineEnd(text, at + 1);
  return byte < SPACE || byte > 0x7e || byte === EQUALS;
}

/**
 * A lone dot ends the DATA of SMTP (RFC 5321 §4.5.2), and relays that get dots wrong exist; mailbox files and some
 * relays write `>From ` for `From ` (RFC 4155).
 */
function isEscapedAtLineStart(text: Buffer, at: number, atLineStart: boolean): boolean {
  if (!atLineStart) return false;
  const byte = text[at];
  return byte === DOT || (byte === UPPER_F && text.subarray(at, at + MBOX_FROM.length).equals(MBOX_FROM));
}

function isLineEnd(text: Buffer, at: number): boolean {
  return at >= text.length || text[at] === CR;
}

/** Octets of the UTF-8 character that starts with this byte; 1 when the byte does not start one. */
function charOctets(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}
