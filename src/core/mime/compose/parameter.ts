/**
 * Parameters of Content-Type and Content-Disposition: RFC 2045 §5.1, and RFC 2231 for values that are long or not
 * ASCII.
 */
import { HEADER_WORD_CHARS } from '../limits.ts';

/** Characters that stay as they are in the extended form; RFC 2231 §7 `attribute-char` allows more, which some readers mishandle. */
const UNCHANGED = /^[A-Za-z0-9._-]$/;

/** Excludes quotes and backslashes too. Seen in practice: readers that don't resolve quoted pairs. */
const PLAIN_VALUE = /^[ !#-[\]-~]*$/;

/** True if a value can be written as a `name="value"` that every reader understands. */
export function isPlainParameter(value: string): boolean {
  // Seen in practice: readers decode `=?` in quotes, which RFC 2047 §5 forbids.
  return value.length <= HEADER_WORD_CHARS && PLAIN_VALUE.test(value) && !value.includes('=?');
}

/**
 * A parameter as header lines, each of which needs a fold before it, and all but the last a `;` after it. A value that is
 * not plain is percent-encoded UTF-8 (RFC 2231 §4), in numbered parts when it is long (§3); no character is split.
 */
export function formatParameter(name: string, value: string): readonly string[] {
  if (isPlainParameter(value)) return [`${name}="${value}"`];
  const parts: string[] = [];
  let part = '';
  for (const character of value) {
    const encoded = UNCHANGED.test(character) ? character : percentEncode(character);
    if (part.length + encoded.length > HEADER_WORD_CHARS - name.length) {
      parts.push(part);
      part = '';
    }
    part += encoded;
  }
  parts.push(part);
  if (parts.length === 1) return [`${name}*=utf-8''${part}`];
  return parts.map((content, index) => `${name}*${index}*=${index === 0 ? "utf-8''" : ''}${content}`);
}

function percentEncode(character: string): string {
  return Buffer.from(character, 'utf8').toString('hex').toUpperCase().replace(/../g, '%$&');
}
