/**
 * Turns the inside of one JSON string literal (RFC 8259 §7), in pieces, into text of one character per byte.
 */
import { TextDecoder } from 'node:util';
import { ServiceError } from '../../../core/errors.ts';

/** All characters except ASCII without control characters and backslashes, which needs no processing. */
const NOT_PLAIN = /[^\u0020-\u005b\u005d-\u007e]/;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export class JsonStringReader {
  /** An escape whose rest is in the next piece. */
  #unfinished = '';
  /** Set from the first byte beyond ASCII on, only to check the encoding. */
  #utf8: TextDecoder | null = null;

  /** True when nothing is pending from earlier pieces, so that a piece of Base64 can be taken literally. */
  get isAtRest(): boolean {
    return this.#unfinished === '' && this.#utf8 === null;
  }

  /**
   * The text of the next piece, with escapes decoded, and bytes beyond ASCII as U+0080 to U+00FF (they are not characters). Throws
   * `invalid_json` for content that JSON does not allow: control characters, unknown escapes, bad UTF-8.
   */
  push(piece: Buffer): string {
    const raw = piece.toString('latin1');
    if (this.isAtRest && !NOT_PLAIN.test(raw)) return raw;
    if (/[\u0000-\u001f]/.test(raw)) throw new ServiceError('invalid_json');
    this.#checkUtf8(piece, raw);
    return this.#unescape(this.#unfinished + raw);
  }

  /** Throws `invalid_json` when the string ended inside an escape or a character. */
  end(): void {
    if (this.#unfinished !== '') throw new ServiceError('invalid_json');
    decode(this.#utf8);
  }

  #checkUtf8(piece: Buffer, raw: string): void {
    if (this.#utf8 === null && !/[\u0080-\u00ff]/.test(raw)) return;
    this.#utf8 ??= new TextDecoder('utf-8', { fatal: true });
    decode(this.#utf8, piece);
  }

  #unescape(text: string): string {
    const parts: string[] = [];
    let from = 0;
    for (;;) {
      const at = text.indexOf('\\', from);
      if (at === -1) break;
      parts.push(text.slice(from, at));
      const isUnicode = text[at + 1] === 'u';
      const end = at + (isUnicode ? 6 : 2);
      if (end > text.length) {
        this.#unfinished = text.slice(at);
        return parts.join('');
      }
      parts.push(isUnicode ? fromHex(text.slice(at + 2, end)) : fromLetter(text[at + 1]));
      from = end;
    }
    this.#unfinished = '';
    parts.push(text.slice(from));
    return parts.join('');
  }
}

function fromLetter(letter: string | undefined): string {
  const character = letter === undefined ? undefined : ESCAPES[letter];
  if (character === undefined) throw new ServiceError('invalid_json');
  return character;
}

function fromHex(digits: string): string {
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new ServiceError('invalid_json');
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function decode(decoder: TextDecoder | null, piece?: Buffer): void {
  try {
    decoder?.decode(piece, { stream: piece !== undefined });
  } catch {
    throw new ServiceError('invalid_json');
  }
}
