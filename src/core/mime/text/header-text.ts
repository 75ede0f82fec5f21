/**
 * Text of received header fields: encoded words (RFC 2047) anywhere, as mail programs read them, not only where the
 * RFC allows them. Takes time in proportion to the length for any input.
 *
 * Seen in practice, and accepted: encoded words with spaces or `?` in them, without white space between or around
 * them, inside quoted strings, and in parameters.
 */
import { decodeEncodedWords, isKnownLabel } from './encoded-word.ts';

const PREFIX = /=\?([\w!#$%&'+\-^`{|}~.:]{1,64}(?:\*[\w-]{0,20})?)\?([bq])\?/iy;

/** Decodes the encoded words in unfolded text. Text without any is returned as it is. */
export function decodeHeaderText(text: string): string {
  if (!text.includes('=?')) return text;
  let decoded = '';
  let run: string[] = [];
  let at = 0;
  const flush = (): void => {
    decoded += decodeEncodedWords(run);
    run = [];
  };
  for (let open = text.indexOf('=?'); open !== -1; open = text.indexOf('=?', open)) {
    PREFIX.lastIndex = open;
    const prefix = PREFIX.exec(text);
    if (prefix === null) {
      open += 2;
      continue;
    }
    const end = text.indexOf('?=', PREFIX.lastIndex);
    if (end === -1) break;
    const between = text.slice(at, open);
    // RFC 2047 §6.2: white space between encoded words does not count.
    if (run.length === 0 || /\S/.test(between)) {
      flush();
      decoded += between;
    }
    const [, charset = '', encoding = ''] = prefix;
    run.push(`=?${charset}?${encoding}?${toContent(text.slice(PREFIX.lastIndex, end), encoding)}?=`);
    at = end + 2;
    open = at;
  }
  flush();
  return decoded + text.slice(at);
}

/** True if any encoded word names a charset that is unknown here. */
export function hasUnknownCharset(text: string): boolean {
  const lastEnd = text.lastIndexOf('?=');
  for (let open = text.indexOf('=?'); open !== -1; open = text.indexOf('=?', open + 2)) {
    PREFIX.lastIndex = open;
    const [, charset] = PREFIX.exec(text) ?? [];
    if (charset !== undefined && PREFIX.lastIndex <= lastEnd && !isKnownLabel(charset)) return true;
  }
  return false;
}

/** The content in the form that RFC 2047 §2 allows. */
function toContent(content: string, encoding: string): string {
  return encoding.toLowerCase() === 'b'
    ? content.replace(/[\s?]+/g, '')
    : content.replaceAll('?', '=3F').replace(/\s/g, '_');
}
