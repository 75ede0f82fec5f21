/**
 * Header fields in the form of RFC 5322 §2.2 and §3.6: folded, 7-bit by encoded words (RFC 2047). Only a local part
 * that is not ASCII stays raw, in UTF-8 (RFC 6532): there is no encoding for it.
 *
 * A field is given as tokens that are joined by a space or a fold; a token itself is never broken.
 */
import { addrSpec, isPlainPhrase, quote, type Address } from '../../address/address.ts';
import { ServiceError } from '../../errors.ts';
import { formatMessageId, type MessageId } from '../../message/message-id.ts';
import { encodeWords } from '../text/encoded-word.ts';
import { FOLD_AT_CHARS, HEADER_WORD_CHARS } from '../limits.ts';

const CONTROL_BUT_TAB = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Printable ASCII words with one space between them, which survive folding. */
const PLAIN_WORDS = /^[!-~]+(?: [!-~]+)*$/;

/** The form of a domain that `Address` promises; anything else could end the address and begin another. */
const DOMAIN = /^(?:[a-z0-9._-]+|\[[\w.:]+\])$/;

/** Message-IDs that can appear in a 7-bit header. */
const ASCII_ID = /^[!-;=?-~]+$/;

/**
 * One field with its CRLF, folded at spaces between tokens so that lines stay within 76 characters if they can.
 * `beginning`: text right after the name, whatever its length.
 */
export function foldHeader(name: string, tokens: readonly string[], beginning = ''): string {
  let field = '';
  let line = `${name}:${beginning === '' ? '' : ` ${beginning}`}`;
  for (const token of tokens) {
    if (line.length + 1 + token.length > FOLD_AT_CHARS) {
      field += `${line}\r\n`;
      line = ` ${token}`;
    } else {
      line += ` ${token}`;
    }
  }
  return `${field}${line}\r\n`;
}

/** One field with the given lines; for parameters, which get a line each. */
export function formatLines(name: string, lines: readonly string[]): string {
  return `${name}: ${lines.join(';\r\n ')}\r\n`;
}

/** RFC 5322 §3.3 in UTC: `Sun, 01 Mar 2026 12:00:00 +0000`. Throws RangeError for an invalid date. */
export function formatDate(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new RangeError('invalid date');
  return date.toUTCString().replace('GMT', '+0000');
}

/**
 * Tokens of an unstructured field, which survives exactly: text that folding or white space would damage is encoded.
 * Throws `header_injection` for control characters other than TAB, `invalid_text` for lone surrogates.
 */
export function textTokens(text: string, field: string): readonly string[] {
  if (CONTROL_BUT_TAB.test(text)) throw new ServiceError('header_injection', { values: { field } });
  if (!text.isWellFormed()) throw new ServiceError('invalid_text', { values: { field } });
  if (text === '') return [];
  const words = text.split(' ');
  return PLAIN_WORDS.test(text) && isReadAsGiven(text, words) ? words : encodeWords(text, HEADER_WORD_CHARS);
}

/**
 * Tokens of a field that a caller adds. ASCII stays as it is, long words too: programs read such fields, and not all decode
 * them. With `canEncode`, anything else may become encoded words. Throws like textTokens.
 */
export function customTokens(value: string, field: string, canEncode: boolean): readonly string[] {
  const isPlain = PLAIN_WORDS.test(value) && !(canEncode && value.includes('=?'));
  if (isPlain) return value.split(' ');
  if (canEncode) return textTokens(value, field);
  if (CONTROL.test(value)) throw new ServiceError('header_injection', { values: { field } });
  return value.split(/ +/);
}

/**
 * Tokens of an address list. The parser of address lists accepts no address that is refused here; addresses
 * from elsewhere may be refused. Throws `header_injection` or `invalid_address`.
 */
export function addressTokens(addresses: readonly Address[], field: string): readonly string[] {
  return addresses.flatMap((address, index) => {
    const spec = addrSpec(address);
    if (CONTROL.test(address.name) || CONTROL.test(address.localPart)) {
      throw new ServiceError('header_injection', { values: { field } });
    }
    if (!DOMAIN.test(address.domain) || address.localPart === '' || !spec.isWellFormed()) {
      throw new ServiceError('invalid_address', { values: { field, value: spec } });
    }
    const comma = index < addresses.length - 1 ? ',' : '';
    return address.name === '' ? [spec + comma] : [...nameTokens(address.name), `<${spec}>${comma}`];
  });
}

/** Tokens of In-Reply-To and References. Ids that are not ASCII are left out of a 7-bit header. */
export function messageIdTokens(ids: readonly MessageId[]): readonly string[] {
  return ids.filter((id) => ASCII_ID.test(id)).map(formatMessageId);
}

function nameTokens(name: string): readonly string[] {
  const words = name.split(' ');
  if (PLAIN_WORDS.test(name) && isReadAsGiven(name, words)) {
    if (isPlainPhrase(name)) return words;
    // A quoted string could be folded inside, but many readers get that wrong.
    if (name.length <= HEADER_WORD_CHARS) return [quote(name)];
  }
  return encodeWords(name.toWellFormed(), HEADER_WORD_CHARS);
}

/** True if no word is too long for a folded line, and none could be mistaken for an encoded word. */
function isReadAsGiven(text: string, words: readonly string[]): boolean {
  return !text.includes('=?') && words.every((word) => word.length <= HEADER_WORD_CHARS);
}
