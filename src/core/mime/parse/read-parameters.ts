/**
 * Content-Type, Content-Disposition and the like of received mail: RFC 2045 §5.1 with the extended parameters of
 * RFC 2231, and comments (RFC 5322 §3.2.2) anywhere. Lenient: unreadable text is skipped. Time grows with the length only.
 *
 * Seen in practice, and accepted: values with spaces and no quotes (`name=My File.pdf`), encoded words in values,
 * backslashes of Windows paths in quotes, empty parameters, a value that is never closed, and parentheses that are not a comment
 * (`name=Report (1).pdf`).
 */
import { decodeCharset } from '../text/charset.ts';
import { decodeHeaderText } from '../text/header-text.ts';
import { MAX_PARAMETER_SECTIONS } from '../limits.ts';

export interface ParameterisedValue {
  /** The text before the first `;`, lower-case, without comments. */
  readonly value: string;
  /** Lower-case names; the first of repeated ones. Decoded. */
  readonly parameters: ReadonlyMap<string, string>;
}

interface Section {
  readonly text: string;
  readonly encoded: boolean;
}

const SECTION_NAME = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/;

/** A stretch of the field between two `;`. */
interface Piece {
  readonly text: string;
  /** The text with spaces in place of its comments, so equally long. */
  readonly bare: string;
}

/** Reads a field's value, unfolded. */
export function readParameters(text: string): ParameterisedValue {
  const plain = new Map<string, string>();
  const sections = new Map<string, Map<number, Section>>();
  let head: Piece | null = null;
  for (const piece of splitPieces(text)) {
    if (head === null) {
      head = piece;
      continue;
    }
    const equals = piece.bare.indexOf('=');
    const [, name = '', index, star] =
      SECTION_NAME.exec(piece.bare.slice(0, equals).trim().toLowerCase()) ?? [];
    if (equals === -1 || name === '') continue;
    const value = readValue(name, piece.text.slice(equals + 1), piece.bare.slice(equals + 1));
    if (index === undefined && star === undefined) {
      if (!plain.has(name)) plain.set(name, decodeHeaderText(value));
      continue;
    }
    const known = sections.get(name) ?? new Map<number, Section>();
    sections.set(name, known);
    const number = Number(index ?? 0);
    if (number < MAX_PARAMETER_SECTIONS && !known.has(number)) {
      known.set(number, { text: value, encoded: star !== undefined });
    }
  }
  // RFC 2231 §4: the extended form takes precedence over a plain one of the same name.
  for (const [name, list] of sections) plain.set(name, joinSections(list));
  return { value: head === null ? '' : readHead(head), parameters: plain };
}

/** RFC 2231 §4.1: charset and language are in the first section; a missing section ends the value. */
function joinSections(sections: ReadonlyMap<number, Section>): string {
  const bytes: Buffer[] = [];
  let charset: string | null = null;
  let isEncoded = false;
  for (let index = 0; ; index++) {
    const section = sections.get(index);
    if (section === undefined) break;
    let { text } = section;
    isEncoded ||= section.encoded;
    if (index === 0 && section.encoded) {
      const [, label, content] = /^([^']*)'[^']*'(.*)$/s.exec(text) ?? [];
      if (label !== undefined) charset = label === '' ? null : label;
      text = content ?? text;
    }
    bytes.push(section.encoded ? percentDecode(text) : Buffer.from(text, 'utf8'));
  }
  const { text } = decodeCharset(Buffer.concat(bytes), charset);
  // Seen in practice: an encoded word that is cut into sections.
  return isEncoded ? text : decodeHeaderText(text);
}

function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return Buffer.from(
    bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/**
 * The text before the first `;`. After a comment only the subtype can follow: `text (a) / html (b)`; the text after a
 * comment that is never closed is left out too.
 */
function readHead({ text, bare }: Piece): string {
  const [known = ''] = bare.split('(', 1);
  if (known === text) return known.trim().toLowerCase();
  const joined = known
    .split('/')
    .map((piece) => piece.trim())
    .join('/');
  return joined.slice(0, firstSpace(joined)).toLowerCase();
}

function firstSpace(text: string): number {
  const at = text.search(/\s/);
  return at === -1 ? text.length : at;
}

/** `bare` is the text with spaces in place of its comments. */
function readValue(name: string, text: string, bare: string): string {
  const value = bare.trim();
  if (value.startsWith('"')) return unquote(value);
  const whole = text.trim();
  if (value === whole) return value;
  if (name === 'filename' || name === 'name') return isNameWithComment(value, whole) ? value : whole;
  // Parentheses may be part of a boundary (RFC 2046 §5.1.1), which then should have quotes.
  return name === 'boundary' && (/\s/.test(value) || !/\s/.test(whole)) ? whole : value;
}

/**
 * True if nothing is lost with the comment: the name is complete without it. A name with spaces, or one whose extension
 * follows the parentheses, was written without regard to the grammar; `a.pdf (1)` is a copy.
 */
function isNameWithComment(value: string, whole: string): boolean {
  if (!/^[^\s()<>@,;:\\"/[\]?=]+$/.test(value) || !/\.(?=\d?[a-z])[a-z0-9]{1,5}$/i.test(value)) return false;
  const comment = whole.slice(value.length);
  return whole.startsWith(value) && /^\s/.test(comment) && !/^\s*\(\d+\)$/.test(comment);
}

/**
 * Splits at `;`, but not within quotes and comments. A quote or a parenthesis that is never closed is an ordinary character,
 * and so are later ones of its kind. A generator: a hostile field has hundreds of thousands of pieces.
 */
function* splitPieces(text: string): Generator<Piece> {
  let bare = '';
  let bareTo = 0;
  let start = 0;
  let hasComments = true;
  const pieceTo = (end: number): Piece => {
    const piece = text.slice(start, end);
    const found = { text: piece, bare: bareTo === start ? piece : bare + text.slice(bareTo, end) };
    bare = '';
    start = end + 1;
    bareTo = start;
    return found;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfQuoted(text, at);
      if (end === -1) {
        for (let next = text.indexOf(';', at); next !== -1; next = text.indexOf(';', next + 1))
          yield pieceTo(next);
        break;
      }
      at = end;
    } else if (character === '(' && hasComments) {
      const end = endOfComment(text, at);
      hasComments = end !== -1;
      if (end === -1) continue;
      bare += text.slice(bareTo, at) + ' '.repeat(end + 1 - at);
      bareTo = end + 1;
      at = end;
    } else if (character === ';') yield pieceTo(at);
  }
  yield pieceTo(text.length);
}

/** The index of the closing parenthesis of a comment, which may contain others; -1 when there is none. */
function endOfComment(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at;
  }
  return -1;
}

function endOfQuoted(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return at;
    // A path ends in a backslash before the closing quote, `"C:\"`: nothing but `;` or the end follows then.
    if (character === '\\' && !/^"[ \t]*(?:;|$)/.test(text.slice(at + 1, at + 20))) at++;
  }
  return -1;
}

function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  const end = endOfQuoted(value, 0);
  return value.slice(1, end === -1 ? value.length : end).replace(/\\(["\\])/g, '$1');
}
