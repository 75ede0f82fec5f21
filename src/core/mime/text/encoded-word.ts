/**
 * Encoded words, RFC 2047: non-ASCII text in headers. Written in UTF-8 only, read in every charset that charset.ts
 * decodes. The caller decides where they may appear (RFC 2047 §5).
 */
import { decodeCharset, knownCharset } from './charset.ts';
import { ENCODED_WORD_CHARS } from '../limits.ts';

const PREFIX = '=?utf-8?';
/** `=?utf-8?Q?` and `?=`. */
const OVERHEAD = PREFIX.length + 'Q??='.length;

/** RFC 2047 §2; the language suffix of RFC 2231 §5 is allowed and ignored. */
const ENCODED_WORD = /^=\?([\w!#$%&'+\-^`{|}~]{1,64})(?:\*[\w-]*)?\?([bq])\?([^? ]*)\?=$/i;

/** RFC 2047 §5 (3): the characters that stay as they are in a phrase; a subset of those allowed elsewhere. */
const UNCHANGED = /^[A-Za-z0-9!*+\-/]$/;

/** True if a word has the form of an encoded word, in a charset that is known here. */
export function isEncodedWord(word: string): boolean {
  const label = word.startsWith('=?') ? ENCODED_WORD.exec(word)?.[1] : undefined;
  return label !== undefined && knownCharset(label) !== null;
}

/**
 * Decodes adjacent encoded words, between which white space does not count (RFC 2047 §6.2). The charset of words with an
 * unknown label is guessed from their bytes, see decodeCharset. Bytes that the charset does not allow become U+FFFD.
 */
export function decodeEncodedWords(words: readonly string[]): string {
  let text = '';
  let run: Word[] = [];
  for (const word of words) {
    const [, label = '', encoding = '', content = ''] = ENCODED_WORD.exec(word) ?? [];
    if (label === '') {
      text += decodeRun(run) + word;
      run = [];
      continue;
    }
    const charset = knownCharset(label) ?? `unknown ${label.toLowerCase()}`;
    if (run[0] !== undefined && run[0].charset !== charset) {
      text += decodeRun(run);
      run = [];
    }
    run.push({ charset, isBase64: encoding.toLowerCase() === 'b', content });
  }
  return text + decodeRun(run);
}

/** True if this build can decode the charset label of an encoded word; the label may have a language (RFC 2231 §5). */
export function isKnownLabel(label: string): boolean {
  return knownCharset(label.split('*', 1)[0] ?? '') !== null;
}

interface Word {
  readonly charset: string;
  readonly isBase64: boolean;
  readonly content: string;
}

/**
 * Words of one charset. Seen in practice, though RFC 2047 §5 forbids it: characters and shift states that continue in the next
 * word, so the bytes are joined before decoding; and Base64 that was cut anywhere.
 */
function decodeRun(run: readonly Word[]): string {
  const charset = run[0]?.charset;
  if (charset === undefined) return '';
  const bytes = run.map(({ isBase64, content }) =>
    isBase64 ? Buffer.from(content, 'base64') : decodeQ(content),
  );
  const { text, defect } = decodeCharset(Buffer.concat(bytes), charset);
  const isCutAnywhere = run.length > 1 && run.every(({ isBase64 }) => isBase64) && !isWholeGroups(run);
  if (defect === null || !isCutAnywhere) return text;
  const joined = Buffer.from(run.map(({ content }) => content.replaceAll('=', '')).join(''), 'base64');
  const other = decodeCharset(joined, charset);
  return other.defect === null ? other.text : text;
}

/** True if every word but the last decodes on its own without bits left over. */
function isWholeGroups(run: readonly Word[]): boolean {
  return run.slice(0, -1).every(({ content }) => content.length % 4 === 0);
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
