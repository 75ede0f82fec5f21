/**
 * Encoded words, RFC 2047: non-ASCII text in headers. Written in UTF-8 only, read in every charset that charset.ts
 * knows. Where they may stand is the caller's business (RFC 2047 §5).
 */
import { decodeKnownCharset, knownCharset } from './charset.ts';
import { ENCODED_WORD_CHARS } from './limits.ts';

const PREFIX = '=?utf-8?';
/** `=?utf-8?Q?` and `?=`. */
const OVERHEAD = PREFIX.length + 'Q??='.length;

/** RFC 2047 §2; the language suffix of RFC 2231 §5 is allowed and ignored. */
const ENCODED_WORD = /^=\?([\w!#$%&'+\-^`{|}~]{1,64})(?:\*[\w-]*)?\?([bq])\?([^? ]*)\?=$/i;

/** RFC 2047 §5 (3): the characters that stay as they are in a phrase; a subset of what is allowed elsewhere. */
const UNCHANGED = /^[A-Za-z0-9!*+\-/]$/;

/** Whether a word has the shape of an encoded word, whatever its charset. */
export function isEncodedWord(word: string): boolean {
  return word.startsWith('=?') && ENCODED_WORD.test(word);
}

/**
 * Decodes adjacent encoded words, between which white space does not count (RFC 2047 §6.2). Words with an unknown
 * charset stay as they are. Bytes that the charset does not allow become U+FFFD.
 */
export function decodeEncodedWords(words: readonly string[]): string {
  let text = '';
  let charset: string | null = null;
  let bytes: Buffer[] = [];
  for (const word of words) {
    const [, label = '', encoding = '', content = ''] = ENCODED_WORD.exec(word) ?? [];
    const wordCharset = knownCharset(label);
    if (wordCharset !== charset) {
      text += decodeBytes(charset, bytes);
      charset = wordCharset;
      bytes = [];
    }
    // Seen in practice: characters split between two words, so the bytes of one charset are joined before decoding.
    if (wordCharset === null) text += word;
    else bytes.push(encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : decodeQ(content));
  }
  return text + decodeBytes(charset, bytes);
}

function decodeBytes(charset: string | null, bytes: readonly Buffer[]): string {
  return charset === null ? '' : decodeKnownCharset(Buffer.concat(bytes), charset);
}

/**
 * Encodes text as encoded words to be joined by a space or a fold; each is at most 75 characters (RFC 2047 §2), the
 * first at most `firstWordChars`, and no character is split. Takes Q or B, whichever is shorter. The text must be
 * well-formed; empty text gives no word.
 */
export function encodeWords(text: string, firstWordChars = ENCODED_WORD_CHARS): readonly string[] {
  const useQ = qLength(text) <= Math.ceil(Buffer.byteLength(text) / 3) * 4;
  const words: string[] = [];
  let chunk = '';
  let used = 0;
  let room = firstWordChars - OVERHEAD;
  const flush = (): void => {
    if (chunk !== '') words.push(useQ ? `${PREFIX}Q?${chunk}?=` : `${PREFIX}B?${toBase64(chunk)}?=`);
    room = ENCODED_WORD_CHARS - OVERHEAD;
    chunk = '';
    used = 0;
  };
  for (const character of text) {
    const encoded = useQ ? encodeQ(character) : character;
    const cost = useQ ? encoded.length : Buffer.byteLength(character);
    const total = useQ ? used + cost : Math.ceil((used + cost) / 3) * 4;
    if (total > room) flush();
    chunk += encoded;
    used += cost;
  }
  flush();
  return words;
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function encodeQ(character: string): string {
  if (UNCHANGED.test(character)) return character;
  if (character === ' ') return '_';
  return Buffer.from(character, 'utf8').toString('hex').toUpperCase().replace(/../g, '=$&');
}

function qLength(text: string): number {
  let length = 0;
  for (const character of text) {
    length += UNCHANGED.test(character) || character === ' ' ? 1 : 3 * Buffer.byteLength(character);
  }
  return length;
}

function decodeQ(content: string): Buffer {
  const unescaped = content
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // Bytes were written as Latin-1 characters; anything beyond is text that should have been encoded.
  return /[\u0100-\uffff]/.test(unescaped)
    ? Buffer.from(unescaped, 'utf8')
    : Buffer.from(unescaped, 'latin1');
}
