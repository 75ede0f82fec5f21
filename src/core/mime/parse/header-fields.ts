/**
 * Header fields of received mail: RFC 5322 §2.2, with the UTF-8 of RFC 6532. Lenient.
 *
 * Seen in practice, and accepted: bare LF, 8-bit text without a charset, white space before the colon, a line
 * `From someone …` of mbox on top, lines that are not fields, a missing empty line before the body, and empty lines or a
 * byte order mark before the header.
 */
import { decodeKnownCharset, decodeUtf8, knownCharset } from '../text/charset.ts';
import {
  isMadeUpMessageId,
  isWorthlessMessageId,
  normaliseMessageId,
  toMessageId,
  type MessageId,
} from '../../message/message-id.ts';
import { decodeIdWords, parseMessageIdList } from '../../message/references.ts';
import { readParameters } from './read-parameters.ts';

/** One field as received. */
export interface HeaderField {
  /** Lower-case. */
  readonly name: string;
  /** Unfolded, trimmed, without controls; encoded words are still encoded. */
  readonly value: string;
}

export interface HeaderBlock {
  /** In order; repeats are kept. */
  readonly fields: readonly HeaderField[];
  /** Start of a body without an empty line before it, in bytes from the start of the block; null if there is none. */
  readonly bodyStart: number | null;
  /** A line was not a field. */
  readonly malformed: boolean;
  /** Fields beyond `maxFields` were dropped. */
  readonly isCut: boolean;
  /** The block ends in an empty line. */
  readonly hasEmptyLine: boolean;
}

// RFC 5322 §2.2 and §3.6.8; white space before the colon by §4.5.
const FIELD = /^([!-9;-~]{1,200})[ \t]*:/;
const MAX_FIELD_NAME_CHARS = 200;
const MBOX_LINE = /^>?From /;
/** UTF-8's, read as latin1. Editors write it. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** Fields by which a header below a broken line is recognised. */
const COMMON_FIELD =
  /^(?:from|to|cc|date|subject|message-id|mime-version|content-[a-z-]+|received|reply-to|references|in-reply-to|return-path|x-[a-z-]+) ?:/i;

/** Those that mean something in a part of a multipart (RFC 2046 §5.1). */
const PART_FIELD = /^content-[a-z-]+ ?:/i;

/**
 * Reads the lines of a header; the empty line at its end is optional.
 * @param isPart it is the header of a part of a multipart
 */
export function parseHeaderBlock(
  block: Buffer,
  maxFields = Number.POSITIVE_INFINITY,
  isPart = false,
): HeaderBlock {
  const common = isPart ? PART_FIELD : COMMON_FIELD;
  const names: string[] = [];
  const values: string[][] = [];
  const text = block.toString('latin1');
  let malformed = false;
  let isCut = false;
  let hasEmptyLine = false;
  const start = startOfFields(text);
  if (start === null) {
    const bodyStart = text.indexOf('\n') + 1;
    return { fields: [], bodyStart, malformed, isCut, hasEmptyLine: true };
  }
  let bodyStart: number | null = null;
  // Found once for all broken lines: a search from each of them would be quadratic.
  let lastField: number | null = null;
  for (let at = start; at < text.length;) {
    const lf = text.indexOf('\n', at);
    const end = lf === -1 ? text.length : lf;
    const line = text.slice(at, end);
    hasEmptyLine = /^\r?$/.test(line);
    if (hasEmptyLine) break;
    // RFC 2046 §5.1.1: the message's own boundary begins its body, whatever is missing before it.
    if (line.startsWith('--') && isBoundary(line, names, values)) {
      malformed = true;
      bodyStart = at;
      break;
    }
    const continued = line.startsWith(' ') || line.startsWith('\t');
    // Seen in practice: white space in place of the empty line at the end.
    if (continued && line.trim() === '' && names.length > 0) {
      const next = text.slice(end + 1, end + 1 + MAX_FIELD_NAME_CHARS + 10);
      lastField ??= startOfLastField(text, common);
      if (lf !== -1 && !/^[ \t\r\n]/.test(next) && (!FIELD.test(next) || lastField <= at)) {
        malformed = true;
        bodyStart = end + 1;
        break;
      }
    }
    const [matched, name = ''] = FIELD.exec(line) ?? [];
    if (continued) {
      // RFC 5322 §2.2.3: unfolding removes only the line break.
      values.at(-1)?.push(line);
    } else if (matched !== undefined) {
      if (names.length < maxFields) {
        names.push(name.toLowerCase());
        values.push([line.slice(matched.length)]);
      } else {
        isCut = true;
      }
    } else if (at > start || !MBOX_LINE.test(line)) {
      malformed = true;
      lastField ??= startOfLastField(text, common);
      if (lastField < at) {
        bodyStart = at;
        break;
      }
    }
    at = end + 1;
  }
  const raw = names.map((name, index) => [name, joinLines(values[index] ?? [])] as const);
  const contentType = raw.find(([name]) => name === 'content-type')?.[1];
  const charset = contentType === undefined ? null : charsetOf(contentType);
  const fields = raw.map(([name, value]) => ({ name, value: decodeRaw(value, charset) }));
  return { fields, bodyStart, malformed, isCut, hasEmptyLine };
}

/**
 * The index at which the fields of a header begin: after a byte order mark and any empty lines. null when there are empty
 * lines and no header follows them, which would begin with a field and contain a common one.
 */
export function startOfFields(text: string): number | null {
  const marked = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  const start = marked + (/^(?:\r?\n)*/.exec(text.slice(marked))?.[0].length ?? 0);
  if (start === marked) return start;
  const end = text.slice(start).search(/\n\r?\n/);
  const header = text.slice(start, end === -1 ? text.length : start + end);
  return FIELD.test(header) && startOfLastField(header, COMMON_FIELD) !== -1 ? start : null;
}

/** The value of the first field of that name (lower-case); null when there is none. */
export function fieldValue(fields: readonly HeaderField[], name: string): string | null {
  return fields.find((field) => field.name === name)?.value ?? null;
}

/** Values of all fields of that name (lower-case). */
export function fieldValues(fields: readonly HeaderField[], name: string): readonly string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}

/** The first Message-ID (RFC 5322 §3.6.4), normalised; null when there is none that could be quoted. */
export function messageIdOf(fields: readonly HeaderField[]): MessageId | null {
  const [id] = messageIdsOf(fields);
  return id === undefined ? null : normaliseMessageId(id);
}

/**
 * The ids of all Message-ID fields, as written except for encoded words. Seen in practice: one without `@`, one without
 * angle brackets, one in encoded words, and a second field from a gateway that added its own.
 */
export function messageIdsOf(fields: readonly HeaderField[]): readonly MessageId[] {
  return fieldValues(fields, 'message-id').flatMap((value) => {
    const text = decodeIdWords(value).trim();
    const bracketed = text.startsWith('<') && text.endsWith('>');
    const id = toMessageId(bracketed ? text.slice(1, -1) : text) ?? parseMessageIdList(text)[0];
    return id === undefined || isMadeUpMessageId(id) || isWorthlessMessageId(id) ? [] : [id];
  });
}

/** True if the line is the delimiter of the multipart that the fields above it describe. */
function isBoundary(line: string, names: readonly string[], values: readonly (readonly string[])[]): boolean {
  const index = names.indexOf('content-type');
  if (index === -1) return false;
  const { value, parameters } = readParameters(joinLines(values[index] ?? []));
  const boundary = (parameters.get('boundary') ?? '').trimEnd();
  return value.startsWith('multipart/') && boundary !== '' && line.slice(2).trimEnd() === boundary;
}

/** -1 when there is none. */
function startOfLastField(text: string, pattern: RegExp): number {
  let last = -1;
  for (let at = 0; at < text.length;) {
    if (pattern.test(text.slice(at, at + 60))) last = at;
    const lf = text.indexOf('\n', at);
    if (lf === -1) break;
    at = lf + 1;
  }
  return last;
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)).join('');
}

/** Seen in practice: ISO-2022-JP without encoded words; its escapes would be removed with the other controls. */
function decodeRaw(value: string, charset: string | null): string {
  const isJapanese = value.includes('\u001b$');
  const text = isJapanese ? decodeKnownCharset(Buffer.from(value, 'latin1'), 'iso-2022-jp') : value;
  const clean = text.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, ' ').trim();
  return isJapanese ? clean.toWellFormed() : decode8Bit(clean, charset);
}

function charsetOf(contentType: string): string | null {
  const label = readParameters(contentType).parameters.get('charset');
  return label === undefined ? null : knownCharset(label);
}

/** Seen in practice: 8-bit text in headers, in UTF-8 (RFC 6532) or in the charset of the body. */
function decode8Bit(value: string, charset: string | null): string {
  if (!/[\u0080-\u00ff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  const text =
    decodeUtf8(bytes) ??
    decodeKnownCharset(bytes, charset === null || charset === 'utf-8' ? 'windows-1252' : charset);
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, ' ').trim();
}
