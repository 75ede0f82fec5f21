/**
 * Divides the parts of a received message into its text and its attachments: RFC 2046 §5.1, RFC 2183, RFC 2387.
 *
 * Of alternatives all plain texts and HTML that differ are taken. Texts that follow one another are joined, as mail
 * programs show them (Apple Mail writes text, image, text). A text with a file name is an attachment, except the first text
 * of a message. A text of an unknown type is shown as a text where there is no other, and is an attachment as well
 * (RFC 2046 §4.1.4). Alternatives that repeat the text for watches and AMP readers are left out, unless the message has no other text.
 */
import { isUtf8 } from 'node:buffer';
import { endOfBase64 } from './base64-text.ts';
import { decodeCharset } from '../text/charset.ts';
import { unflow } from '../text/flowed-text.ts';
import { decodeHtmlCharset } from '../text/html-charset.ts';
import { renderHtml } from '../text/html-to-text.ts';
import type { ParseDefect } from './parsed-message.ts';
import type { ReceivedPart } from './received-part.ts';
import { decodeTransfer } from './transfer-decoding.ts';

export interface BodyText {
  readonly text: string | null;
  readonly html: string | null;
  /** Parts that are not text, in order; also multiparts that could not be split. */
  readonly attachments: readonly ReceivedPart[];
}

/** Hides the body until the scripts of AMP run. */
const AMP_BOILERPLATE = /<style\s[^<>]{0,100}amp(?:4email)?-boilerplate[^<>]{0,100}>[^<]{0,1000}<\/style>/gi;

const LEFT_OUT = new Set(['text/x-amp-html', 'text/watch-html']);

/** Divides a tree. Adds what is wrong to the parts' defects. */
export function readBody(root: ReceivedPart): BodyText {
  const reader = new BodyReader();
  const { text, html } = reader.read(root);
  const other = isBlank({ text, html }) ? reader.readOtherText() : null;
  return { text: other?.text ?? text, html: other?.html ?? html, attachments: reader.attachments };
}

export const isBlank = ({ text, html }: Pair): boolean =>
  (text ?? '').trim() === '' && (html ?? '').trim() === '';

/** The text of a part in its charset, with `\n` line ends, no NUL, and no line breaks at its end. */
export function decodeTextPart(part: ReceivedPart): string {
  part.decodedText ??= decodeText(part);
  return part.decodedText;
}

function decodeText(part: ReceivedPart): string {
  const encoded = part.kept.bytes();
  if (part.encoding === 'base64' && isClearText(encoded, part)) {
    part.encoding = 'identity';
    part.defects.add('wrong_encoding');
  }
  // Seen in practice: footers of lists in clear text after the Base64 of the text.
  const clearFrom = part.encoding === 'base64' ? endOfBase64(encoded) : encoded.length;
  const texts = [
    decodeTransfer(encoded.subarray(0, clearFrom), part.encoding),
    ...(clearFrom < encoded.length ? [encoded.subarray(clearFrom)] : []),
  ].map((bytes) => {
    const decode = part.mediaType.endsWith('html') ? decodeHtmlCharset : decodeCharset;
    const { text, defect } = decode(bytes, part.parameters.get('charset') ?? null);
    if (defect !== null) part.defects.add(defect);
    return text;
  });
  const lines = texts.join('\n').replaceAll('\0', '').toWellFormed().replace(/\r\n?/g, '\n');
  let end = lines.length;
  while (lines.charAt(end - 1) === '\n') end--;
  return lines.slice(0, end);
}

/** The longest text that is checked; longer clear text has a sign that Base64 has not, which startsBase64 finds. */
const MAX_CLEAR_CHARS = 2000;
/** The longest word or compound of a language, about. */
const MAX_WORD_CHARS = 40;

/**
 * `Danke` under the label of Base64: a word, or words whose letters do not fill the groups of four that encoders write, that
 * decodes to no text. Real Base64 may decode to no text where the charset is wrong.
 */
function isClearText(encoded: Buffer, { mediaType, filename, parameters }: ReceivedPart): boolean {
  if (filename !== null || (mediaType !== 'text/plain' && mediaType !== 'text/html')) return false;
  if (encoded.length > MAX_CLEAR_CHARS) return false;
  const lines = encoded.toString('latin1').trim().split(/\s+/);
  if (!lines.every((line) => /^[A-Za-z0-9+/]+$/.test(line))) return false;
  if (!/^(?:utf-?8|us-ascii)$/i.test(parameters.get('charset') ?? 'utf-8')) return false;
  const [word = ''] = lines;
  const isWord = lines.length === 1 && word.length <= MAX_WORD_CHARS;
  // No encoder writes less than a group.
  if (isWord && word.length < 4) return word !== '';
  if (!isWord && lines.every(({ length }) => length % 4 === 0)) return false;
  const decoded = decodeTransfer(encoded, 'base64');
  // A text that ends with a line end has a digit or `=` in its Base64; a word has neither.
  return !isUtf8(decoded) || (/^[A-Za-z]+$/.test(lines.join('')) && decoded.some((byte) => byte < 0x09));
}

interface Pair {
  readonly text: string | null;
  readonly html: string | null;
}

const NOTHING: Pair = { text: null, html: null };

class BodyReader {
  readonly attachments: ReceivedPart[] = [];
  readonly #leftOut: ReceivedPart[] = [];
  #hasText = false;

  /** The limit of depth bounds the recursion. */
  read(part: ReceivedPart): Pair {
    if (part.children.length > 0) {
      const pairs = part.children.map((child) => this.read(child));
      // With its signature, which the parts within it do not have.
      if (part.keep === 'cms') this.attachments.push(part);
      return part.mediaType === 'multipart/alternative'
        ? choose(pairs, part.defects)
        : join(pairs, part.defects);
    }
    if (part.boundary !== null) return this.#readEmptyMultipart(part);
    if (LEFT_OUT.has(part.mediaType) && !part.isAttachment) {
      this.#leftOut.push(part);
      return NOTHING;
    }
    if (part.keep !== 'text' || (part.filename !== null && this.#hasText)) {
      this.attachments.push(part);
      return NOTHING;
    }
    const text = decodeTextPart(part);
    if (text.trim() !== '') this.#hasText = true;
    if (part.mediaType === 'text/html') return { text: null, html: text };
    const isFlowed = part.parameters.get('format')?.toLowerCase() === 'flowed';
    const delSp = part.parameters.get('delsp')?.toLowerCase() === 'yes';
    return { text: isFlowed ? unflow(text, delSp) : text, html: null };
  }

  /** The first text of another type than plain and HTML, which is among the attachments, or the first that was left out. */
  readOtherText(): Pair | null {
    const other = this.attachments.find(({ keep }) => keep === 'other_text');
    if (other !== undefined) return { text: decodeTextPart(other), html: null };
    const [html] = this.#leftOut;
    return html === undefined
      ? null
      : { text: null, html: decodeTextPart(html).replace(AMP_BOILERPLATE, '') };
  }

  /** No delimiter was found, or the multipart is nested deeper than the limit. */
  #readEmptyMultipart(part: ReceivedPart): Pair {
    part.defects.add('multipart_without_parts');
    if (part.keep === 'preamble' && part.kept.length > 0) return { text: decodeTextPart(part), html: null };
    if (part.end > part.start) this.attachments.push(part);
    return NOTHING;
  }
}

function choose(pairs: readonly Pair[], defects: Set<ParseDefect>): Pair {
  const same = (text: string): string => text.replace(/\s+/g, ' ').trim();
  const texts = pairs.flatMap(({ text }) => text ?? []);
  const htmls = pairs.flatMap(({ html }) => html ?? []);
  return {
    text: distinct(texts, same).join('\n\n') || (texts[0] ?? null),
    html:
      distinct(htmls, (html) => (htmls.length === 1 ? html : same(renderText(html, defects)))).join('\n') ||
      (htmls.at(-1) ?? null),
  };
}

/** Without blank ones, and without those whose content another one has, too. */
function distinct(values: readonly string[], contentOf: (value: string) => string): readonly string[] {
  const contents = values.map(contentOf);
  return values.filter((_, index) => {
    const content = contents[index] ?? '';
    if (content.trim() === '') return false;
    return !contents.some(
      (other, at) => at !== index && other.includes(content) && (other !== content || at < index),
    );
  });
}

function renderText(html: string, defects: Set<ParseDefect>): string {
  const { text, isCut } = renderHtml(html);
  if (isCut) defects.add('html_text_cut');
  return text;
}

function join(pairs: readonly Pair[], defects: Set<ParseDefect>): Pair {
  const filled = pairs.filter(({ text, html }) => text !== null || html !== null);
  const [only, ...others] = filled;
  if (only === undefined) return NOTHING;
  if (others.length === 0) return only;
  const htmls = filled.map(({ text, html }) => html ?? `<pre>${escapeHtml(text ?? '')}</pre>`);
  const texts = filled.map(({ text, html }) => {
    return text ?? renderText(html ?? '', defects);
  });
  return {
    text: texts.filter((text) => text !== '').join('\n\n'),
    html: filled.some(({ html }) => html !== null) ? htmls.join('\n') : null,
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
