/**
 * Base64 text with clear text after its end: lists and servers append footers without regard to the encoding.
 */

/** A line of Base64 (RFC 2045 §6.8), white space at its end left out. */
const BASE64_LINE = /^[A-Za-z0-9+/]+={0,2}$/;
/** Longest line that counts as Base64; programs write up to 76 characters. */
const MAX_LINE_CHARS = 1000;
/** Below clear text, a line at least this long counts as Base64: then the clear text was in its middle. */
const MIN_LONG_LINE_CHARS = 40;

/** Base64 has at least this many characters for each foreign one. */
const MIN_CHARS_A_FOREIGN = 16;
/** Longer pieces between spaces are no words. */
const MAX_WORD_CHARS = 20;

/** The index at which the clear text begins; the length of the body when there is none. */
export function endOfBase64(encoded: Buffer): number {
  let start: number | null = null;
  let isEnded = false;
  let isText = false;
  for (let at = 0; at < encoded.length;) {
    const lf = encoded.indexOf(0x0a, at);
    const end = lf === -1 ? encoded.length : lf + 1;
    const line = encoded.toString('latin1', at, Math.min(end, at + MAX_LINE_CHARS)).trim();
    const isBase64 = BASE64_LINE.test(line) && (line.length % 4 === 0 || start === null);
    if (start !== null && isBase64 && line.length >= MIN_LONG_LINE_CHARS) {
      start = null;
      isEnded = false;
      isText = false;
    }
    if (start === null) {
      // Padding, an empty line or a rule ends the encoded text; joined pieces may follow padding.
      if (isEnded && line !== '' && !isBase64) start = at;
      else if (isRule(line)) start = at;
      isEnded = line === '' || line.endsWith('=');
    }
    if (start !== null) isText ||= isClearText(line);
    at = end;
  }
  return start !== null && isText ? start : encoded.length;
}

/**
 * False if the body begins with clear text, true if it begins with Base64, null if it begins with empty lines alone. A few foreign
 * characters, and spaces between pieces, are accepted in Base64 (RFC 2045 §6.8).
 */
export function startsBase64(piece: Buffer): boolean | null {
  const start = piece.findIndex((byte) => byte > 0x20);
  if (start === -1) return null;
  const [line = ''] = piece.toString('latin1', start, start + MAX_LINE_CHARS).split('\n', 1);
  const words = line.trim().split(/[ \t]+/);
  const foreign = words.join('').replace(/[A-Za-z0-9+/_=-]/g, '').length;
  if (foreign * MIN_CHARS_A_FOREIGN > line.trim().length) return false;
  if (words.length === 1) return true;
  return foreign === 0 && words.every((word) => word.length % 4 === 0 || word.length > MAX_WORD_CHARS);
}

function isRule(line: string): boolean {
  return /^[-_=*#~]{3,}$/.test(line);
}

/** Words, an address or a link: patterns that stray characters within Base64 do not form. */
function isClearText(line: string): boolean {
  return /[a-z]{2} {1,5}[a-z]{2}|\w@\w|:\/\//i.test(line);
}
