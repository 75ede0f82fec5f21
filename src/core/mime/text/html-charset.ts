/**
 * The charset that HTML itself names, for HTML that comes without a label: the prescan of the HTML standard
 * (13.2.3.2, "prescan a byte stream to determine its encoding"). Seen in practice: `<meta charset=windows-1251>` in mail without a
 * charset in its Content-Type, or with US-ASCII, the default of programs that never set one.
 */
import { isUtf8 } from 'node:buffer';
import { MAX_PRESCAN_BYTES } from '../limits.ts';
import { decodeCharset, decodeKnownCharset, knownCharset, type DecodedText } from './charset.ts';

/** Labels that say nothing about bytes above ASCII. */
const EMPTY_LABELS: ReadonlySet<string> = new Set(
  'us-ascii ascii ansi_x3.4-1968 7bit 8bit binary unknown x-unknown unknown-8bit'.split(' '),
);

/** Like decodeCharset; if the label says nothing and the bytes are not UTF-8, the charset that the HTML names decides. */
export function decodeHtmlCharset(bytes: Buffer, label: string | null): DecodedText {
  const isOpen =
    label === null || EMPTY_LABELS.has(label.trim().toLowerCase()) || knownCharset(label) === null;
  // ISO-2022-JP is valid UTF-8, with escape sequences.
  if (!isOpen || (isUtf8(bytes) && !bytes.includes('\u001b$'))) return decodeCharset(bytes, label);
  return decodeCharset(bytes, charsetOfHtml(bytes) ?? label);
}

/** A charset must decode this element to itself, which excludes UTF-16, UTF-7 and EBCDIC. */
const SAMPLE = '<meta charset="a+b&c-">';

/** The charset's name for decodeCharset; null when the HTML names none, or none that is known and plausible. */
export function charsetOfHtml(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, MAX_PRESCAN_BYTES);
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 2);
      if (end === -1) return null;
      at = end + 3;
      continue;
    }
    if (!/^<\/?[a-z]/i.test(text.slice(at, at + 3))) {
      const isSkipped = /^<[!/?]/.test(text.slice(at, at + 2));
      at = isSkipped ? skipTo(text, at, '>') : at + 1;
      continue;
    }
    const isMeta = /^<meta[\s/]$/i.test(text.slice(at, at + 6));
    const { attributes, end } = readAttributes(
      text,
      isMeta ? at + META.length : skipTo(text, at, SPACES_AND_END),
    );
    const charset = isMeta ? charsetOfMeta(attributes) : null;
    if (charset !== null) return charset;
    at = end;
  }
  return null;
}

function charsetOfMeta(attributes: ReadonlyMap<string, string>): string | null {
  const isContentType = attributes.get('http-equiv')?.toLowerCase() === 'content-type';
  const label =
    attributes.get('charset') ?? (isContentType ? charsetOfContent(attributes.get('content') ?? '') : null);
  const charset = label === null ? null : knownCharset(label);
  if (charset === null) return null;
  return decodeKnownCharset(Buffer.from(SAMPLE), charset) === SAMPLE ? charset : null;
}

/** HTML standard, "extracting a character encoding from a meta element". */
function charsetOfContent(content: string): string | null {
  const [, quoted, bare] = /charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(content.replaceAll("'", '"')) ?? [];
  return quoted ?? bare ?? null;
}

const META = '<meta';
const SPACES = ' \t\r\n\f/';
const SPACES_AND_END = ' \t\r\n\f>';
const NAME_ENDS = ' \t\r\n\f/=>';

interface Attributes {
  /** By lower-case name; the first of repeated ones. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
}

/** Reads the attributes of one tag, from the end of its name on. */
function readAttributes(text: string, from: number): Attributes {
  const attributes = new Map<string, string>();
  let at = skipAll(text, from, SPACES);
  while (at < text.length && text[at] !== '>') {
    const nameEnd = skipTo(text, at + 1, NAME_ENDS);
    const name = text.slice(at, nameEnd).toLowerCase();
    at = skipAll(text, nameEnd, ' \t\r\n\f');
    let value = '';
    if (text[at] === '=') {
      at = skipAll(text, at + 1, ' \t\r\n\f');
      const quote = text[at] === '"' || text[at] === "'" ? text.charAt(at) : '';
      const start = at + quote.length;
      const end = skipTo(text, start, quote === '' ? SPACES_AND_END : quote);
      value = text.slice(start, end);
      at = end + quote.length;
    }
    if (!attributes.has(name)) attributes.set(name, value);
    at = skipAll(text, at, SPACES);
  }
  return { attributes, end: at };
}

/** Index of the first of the characters; the end of the text when there is none. */
function skipTo(text: string, from: number, characters: string): number {
  let at = from;
  while (at < text.length && !characters.includes(text.charAt(at))) at++;
  return at;
}

function skipAll(text: string, from: number, characters: string): number {
  let at = from;
  while (at < text.length && characters.includes(text.charAt(at))) at++;
  return at;
}

/** Elements and instructions are searched for a charset this far. */
const DECLARATION = /<meta\b[^<>]{0,500}>|<\?xml\b[^<>]{0,200}\?>/gi;

/** HTML that has been decoded names no other charset than UTF-8, in which it is given out. */
export function declareUtf8(html: string): string {
  return html.replace(DECLARATION, (element) =>
    element.replace(/\b((?:charset|encoding)\s*=\s*["']?)[\w.:+-]+/i, '$1utf-8'),
  );
}
