/**
 * Content-Type, Content-Disposition and the like of received mail: RFC 2045 §5.1 with the extended parameters of
 * RFC 2231. Lenient: what can't be read is skipped. Time grows with the length only.
 *
 * Seen in practice, and accepted: values with spaces and no quotes (`name=My File.pdf`), encoded words in values,
 * backslashes of Windows paths in quotes, empty parameters, a value that is never closed.
 */
import { decodeCharset } from '../text/charset.ts';
import { decodeHeaderText } from '../text/header-text.ts';
import { MAX_PARAMETER_SECTIONS } from '../limits.ts';

export interface ParameterisedValue {
  /** What stands before the first `;`, lower-case, without comments. */
  readonly value: string;
  /** Lower-case names; of repeated ones the first. Decoded. */
  readonly parameters: ReadonlyMap<string, string>;
}

interface Section {
  readonly text: string;
  readonly encoded: boolean;
}

const SECTION_NAME = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/;

/** Reads a field's value, unfolded. */
export function readParameters(text: string): ParameterisedValue {
  const [head = '', ...rest] = splitOutsideQuotes(text);
  const plain = new Map<string, string>();
  const sections = new Map<string, Map<number, Section>>();
  for (const piece of rest) {
    const equals = piece.indexOf('=');
    const [, name = '', index, star] = SECTION_NAME.exec(piece.slice(0, equals).trim().toLowerCase()) ?? [];
    if (equals === -1 || name === '') continue;
    const value = unquote(piece.slice(equals + 1).trim());
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
  // RFC 2231 §4: the extended form says more than a plain one of the same name.
  for (const [name, list] of sections) plain.set(name, joinSections(list));
  return { value: withoutComment(head).trim().toLowerCase(), parameters: plain };
}

/** RFC 2231 §4.1: charset and language stand in the first section; a missing section ends the value. */
function joinSections(sections: ReadonlyMap<number, Section>): string {
  const bytes: Buffer[] = [];
  let charset: string | null = null;
  for (let index = 0; ; index++) {
    const section = sections.get(index);
    if (section === undefined) break;
    let { text } = section;
    if (index === 0 && section.encoded) {
      const [, label, content] = /^([^']*)'[^']*'(.*)$/s.exec(text) ?? [];
      if (label !== undefined) charset = label === '' ? null : label;
      text = content ?? text;
    }
    bytes.push(section.encoded ? percentDecode(text) : Buffer.from(text, 'utf8'));
  }
  return decodeCharset(Buffer.concat(bytes), charset).text;
}

function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return Buffer.from(
    bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** Splits at `;`, but not within quotes. A quote that is never closed is an ordinary character. */
function splitOutsideQuotes(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfQuoted(text, at);
      if (end === -1) return [...pieces, ...text.slice(start).split(';')];
      at = end;
    } else if (character === ';') {
      pieces.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start)];
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

function withoutComment(text: string): string {
  const open = text.indexOf('(');
  return open === -1 ? text : text.slice(0, open);
}
