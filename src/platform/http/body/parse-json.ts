/**
 * JSON.parse with one more rule: an object names each of its fields once. RFC 8259 §4 leaves the meaning of a repeated name open, and
 * readers differ: a proxy that checks the first `to` would let the last one pass unseen.
 */
import { ServiceError } from '../../../core/errors.ts';

/**
 * Throws `invalid_json`, and `duplicate_field` for a name that an object has twice, however it is escaped. Time is proportional to the
 * length of the text; nesting costs no stack.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which must not be logged.
    throw new ServiceError('invalid_json');
  }
  refuseDuplicates(text);
  return value;
}

/** The characters that show where names are: brackets, and the quotes of the strings between them. */
const BRACKET_OR_STRING = /[{}[\]"]/g;

/** For valid JSON only. */
function refuseDuplicates(text: string): void {
  // The names so far of each open object; null for a list.
  const open: (Set<string> | null)[] = [];
  BRACKET_OR_STRING.lastIndex = 0;
  for (let found = BRACKET_OR_STRING.exec(text); found !== null; found = BRACKET_OR_STRING.exec(text)) {
    const [sign] = found;
    if (sign === '"') {
      const end = findStringEnd(text, found.index);
      BRACKET_OR_STRING.lastIndex = end;
      const names = open.at(-1);
      if (names !== undefined && names !== null && isFollowedByColon(text, end)) {
        addName(names, text.slice(found.index, end));
      }
    } else if (sign === '{') open.push(new Set());
    else if (sign === '[') open.push(null);
    else open.pop();
  }
}

function addName(names: Set<string>, literal: string): void {
  const name = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (names.has(name)) throw new ServiceError('duplicate_field', { values: { field: name } });
  names.add(name);
}

/** The position after the closing quote of the string that begins at `start`. Each backslash is read once. */
function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** True when an odd number of backslashes precedes the quote. */
function isEscaped(text: string, start: number, quote: number): boolean {
  let backslashes = 0;
  while (quote - backslashes - 1 > start && text[quote - backslashes - 1] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++;
  return text[at] === ':';
}
