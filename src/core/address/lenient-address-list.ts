/**
 * Address lists in headers of received mail: RFC 5322 §3.4 and §4.4, and text that follows neither. Never throws, and takes
 * time in proportion to the length. Lists from callers go through address-list.ts instead, which is strict.
 *
 * Seen in practice, and accepted: commas in names without quotes, encoded words in quotes, with commas or without
 * spaces, `;` between addresses, a name as a comment after the address, routes, quotes and brackets that are never
 * closed, `mailto:`, addresses in quotes or brackets of their own, a whole mailbox in an encoded word, and zero-width characters in an
 * address. What is left without a domain is never the text of an address: it would be taken for one wherever addresses are compared.
 * Words alone are a name without an address (`"Scanner Büro" <>`).
 */
import { cutText } from '../cut-text.ts';
import { decodeHeaderText } from '../mime/text/header-text.ts';
import type { Address } from './address.ts';
import { toAddressLiteral, toAsciiDomain } from './domain.ts';
import { MAX_DISPLAY_NAME_CHARS } from './limits.ts';
import { findScattered, type Word } from './scattered-addresses.ts';

export interface LenientAddressList {
  /** Order and repeats are kept. A broken address has an empty domain and its text as local part; a name alone has neither. */
  readonly addresses: readonly Address[];
  /** At least one address is broken. */
  readonly hasBroken: boolean;
  /** The list has more than `maxCount` addresses. */
  readonly isCut: boolean;
}

/** The text between two separators. */
interface Element {
  /** Name, or an address without angle brackets. */
  readonly words: Word[];
  /** Content of the first angle brackets. */
  angle: string | null;
  /** `angle` contains an `@`. */
  hasAngleAt: boolean;
  comment: string;
  /** One of the words is not blank. */
  isFilled: boolean;
  /** One of the words, outside of quotes, contains an `@`. */
  hasAt: boolean;
}

const ENCODED_WORD = /=\?[\w!#$%&'*+\-^`{|}~.:]{1,80}\?[bq]\?[^?\s]*\?=/iy;
const SPACE = /\s/;
/** Characters that begin or end something other than a word of an element. */
const SPECIALS = new Set('"(<>,;:');
/** The empty group of mail without named recipients, in quotes or brackets, with or without its colon (RFC 5322 §3.4). */
const NO_RECIPIENTS =
  /^["'\s]*(?:(?:undisclosed|unlisted|suppressed)[- _]?recipients?|recipient list (?:not shown|suppressed))["'\s]*[:;]["'\s:;]*$|^\s*undisclosed recipients?\s*$/i;
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
/** The longest valid address has 320 (RFC 5321 §4.5.3.1); a broken one is cut to the same length. */
const MAX_SPEC_CHARS = 320;
/** A name with more words, spaces counted, is not joined across a comma: a bound on the work. */
const MAX_NAME_WORDS = 40;

/** Reads an unfolded field value. Groups are flattened; `undisclosed-recipients:;` adds nothing. */
export function parseLenientAddressList(
  text: string,
  maxCount = Number.POSITIVE_INFINITY,
): LenientAddressList {
  const addresses: Address[] = [];
  let hasBroken = false;
  let isCut = false;
  for (const element of readElements(text.toWellFormed())) {
    if (addresses.length >= maxCount) {
      isCut = true;
      break;
    }
    if (hasInvisible(element)) hasBroken = true;
    for (const address of toAddresses(element, true)) {
      if (address.domain === '') hasBroken = true;
      if (addresses.length < maxCount) addresses.push(address);
      else isCut = true;
    }
  }
  return { addresses, hasBroken, isCut };
}

/** Empty elements are left out. */
function* readElements(text: string): Generator<Element> {
  // From these indexes on no quote or comment is closed. Searched for once, since each search reads up to the end.
  let openQuote = text.length;
  let openComment = text.length;
  let element = emptyElement();
  /** A name with a comma and without quotes, `Muster, Max <…>`, is first read as the element before. */
  let waiting: Element | null = null;
  /** The separator after `waiting`. */
  let separator = ',';
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    if (character === '"' && at < openQuote) {
      const end = endOfQuoted(text, at);
      if (end === -1) openQuote = at;
      else {
        addWord(element, unescape(text.slice(at + 1, end)), true);
        at = end + 1;
      }
      continue;
    }
    if (character === '(' && at < openComment) {
      const end = endOfComment(text, at);
      if (end === -1) openComment = at;
      else {
        if (element.comment === '') element.comment = text.slice(at + 1, end);
        at = end + 1;
      }
      continue;
    }
    if (character === '<') {
      const end = endOfAngle(text, at);
      // Of several angle brackets, the first that can be an address.
      if (!element.hasAngleAt) {
        element.angle = text.slice(at + 1, end);
        element.hasAngleAt = element.angle.includes('@');
      }
      at = text.charAt(end) === '>' ? end + 1 : end;
      continue;
    }
    if (character === ',' || character === ';') {
      at++;
      if (waiting === null && isEmpty(element)) continue;
      if (waiting !== null && !isNamed(element)) yield waiting;
      else if (waiting !== null) element = joinName(waiting, element, separator);
      waiting = null;
      separator = character;
      if (isBareName(element)) waiting = element;
      else yield element;
      element = emptyElement();
      continue;
    }
    if (character === ':' && element.angle === null && !element.hasAt) {
      // RFC 5322 §3.4: the name of a group; also `mailto:`.
      waiting = null;
      if (!isEmpty(element)) element = emptyElement();
      at++;
      continue;
    }
    at = readText(text, at, element);
  }
  if (waiting !== null && !isNamed(element)) yield waiting;
  else if (waiting !== null) element = joinName(waiting, element, separator);
  if (!isEmpty(element)) yield element;
}

/** At an atom, an encoded word, white space or a stray special; returns the index after it. */
function readText(text: string, at: number, element: Element): number {
  const character = text.charAt(at);
  if (character === '>') return at + 1;
  const end = isSpace(character) ? endOfSpace(text, at) : endOfAtoms(text, at);
  addWord(element, isSpace(character) ? ' ' : text.slice(at, end), false);
  return end;
}

function endOfSpace(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isSpace(text.charAt(at))) at++;
  return at;
}

/** The index after atoms, encoded words and anything else up to white space or a special; at least one character. */
function endOfAtoms(text: string, from: number): number {
  let at = from;
  do {
    if (text.charAt(at) === '=' && text.charAt(at + 1) === '?') {
      ENCODED_WORD.lastIndex = at;
      at += ENCODED_WORD.exec(text)?.[0].length ?? 1;
    } else {
      at++;
    }
  } while (at < text.length && !SPECIALS.has(text.charAt(at)) && !isSpace(text.charAt(at)));
  return at;
}

function isSpace(character: string): boolean {
  return character === ' ' || ((character < '!' || character > '~') && SPACE.test(character));
}

function emptyElement(): Element {
  return { words: [], angle: null, hasAngleAt: false, comment: '', isFilled: false, hasAt: false };
}

function isEmpty({ words, angle, comment }: Element): boolean {
  return words.length === 0 && angle === null && comment === '';
}

function addWord(element: Element, text: string, quoted: boolean): void {
  element.words.push({ text, quoted });
  if (!element.isFilled) element.isFilled = text.trim() !== '';
  if (!quoted && !element.hasAt) element.hasAt = text.includes('@');
}

/** The words before a comma may be the first half of a name only where there is a second half. */
function isNamed({ isFilled, hasAt }: Element): boolean {
  return isFilled && !hasAt;
}

function isBareName({ words, angle, isFilled, hasAt }: Element): boolean {
  return angle === null && !hasAt && isFilled && words.length <= MAX_NAME_WORDS;
}

/** Adds to the first element: a copy at each comma would copy all words before it again. */
function joinName(before: Element, element: Element, separator: string): Element {
  before.words.push({ text: separator, quoted: false });
  for (const word of element.words) before.words.push(word);
  before.angle = element.angle;
  before.hasAngleAt = element.hasAngleAt;
  before.comment = element.comment;
  before.hasAt = element.hasAt;
  return before;
}

/** None for an empty element. @param mayBeEncoded its words may hold addresses once they are decoded */
function toAddresses(element: Element, mayBeEncoded: boolean): readonly Address[] {
  const { words, angle, comment } = element;
  const commentWords: readonly Word[] = [{ text: comment, quoted: true }];
  if (angle !== null) {
    const name = toName(words) || toName([{ text: comment, quoted: false }]);
    const spec = angle.trim();
    // RFC 5322 §4.4: a route ends in a colon.
    const bare = spec.startsWith('@') ? spec.slice(spec.indexOf(':') + 1) : spec;
    const address = readSpec(bare) ?? readSpec(withoutBlank(bare));
    if (address !== null) return NO_RECIPIENTS.test(address.localPart) ? [] : [{ ...address, name }];
    const scattered = findAddresses([[{ text: bare, quoted: true }], words, commentWords], words);
    if (scattered.length > 0) return scattered;
    return spec === ''
      ? toNamed(name, mayBeEncoded, !name.includes('@'))
      : toUnread(spec, mayBeEncoded, name);
  }
  const name = toName([{ text: comment, quoted: false }]);
  const spec = words
    .map(({ text, quoted }) => (quoted ? `"${text.replace(/["\\]/g, '\\$&')}"` : text))
    .join('')
    .trim();
  const address = readSpec(spec);
  if (address !== null) return NO_RECIPIENTS.test(address.localPart) ? [] : [{ ...address, name }];
  const scattered = findAddresses([words, commentWords], words);
  const [only] = scattered;
  if (scattered.length === 1 && only?.name === '') return [{ ...only, name }];
  if (only !== undefined) return scattered;
  const spaced = readSpec(withoutBlank(spec));
  if (spaced !== null) return [{ ...spaced, name }];
  const shown = toName(words);
  return toNamed(shown, mayBeEncoded, !NO_NAME.test(shown));
}

/** What may be an address without its domain, `MAILER-DAEMON`, or one that can't be read. */
const NO_NAME = /^[\w.+-]*$|@/;

/** Words without an address. @param isName they are no remains of one */
function toNamed(name: string, mayBeEncoded: boolean, isName: boolean): readonly Address[] {
  if (name === '') return [];
  const found = toUnread(name, mayBeEncoded, isName ? name : '');
  return isName
    ? found.map((address) => (address.domain === '' ? { ...address, localPart: '' } : address))
    : found;
}

/**
 * The addresses in a decoded text; without any, a broken address. No real address stands outside of it, so that this hides none. Seen in
 * practice: `=?utf-8?Q?Max_Muster_=3Cmax=40example.com=3E?=`.
 */
function toUnread(text: string, mayBeEncoded: boolean, name = ''): readonly Address[] {
  if (mayBeEncoded && text.includes('@')) {
    const found = [...readElements(text)].flatMap((element) => toAddresses(element, false));
    const readable = found.filter(({ domain }) => domain !== '');
    if (readable.length > 0) return readable;
  }
  const localPart = brokenText(text);
  if (NO_RECIPIENTS.test(localPart)) return [];
  const spec = readSpec(localPart);
  return [spec === null ? { name, localPart, domain: '' } : { ...spec, name }];
}

/**
 * The addresses in the first of the places that contains any. Seen in practice: no brackets, other brackets, the address as
 * a comment or in quotes with the name. An address without a name beside it gets `names` as its name.
 */
function findAddresses(places: readonly (readonly Word[])[], names: readonly Word[]): readonly Address[] {
  for (const place of places) {
    const found = findScattered(place, (text) => {
      const spec = readSpec(text);
      return spec?.domain.includes('.') === true ? spec : null;
    });
    if (found.length > 0) {
      const other = place === names ? [] : names;
      return found.map(({ spec, name }) => ({ ...spec, name: toName(name) || toName(other) }));
    }
  }
  return [];
}

/** null when the text is not an address. */
function readSpec(given: string): Omit<Address, 'name'> | null {
  if (given.length > MAX_SPEC_CHARS) return null;
  const bare = withoutInvisible(given).replace(/^mailto:/i, '');
  // Seen in practice: Outlook's quotes around an address. Alone, a quote is a character of the local part.
  const [, spec = bare] = /^['‘](.*)['’]$/s.exec(bare) ?? [];
  const at = spec.lastIndexOf('@');
  if (at < 1) return null;
  const localPart = readLocalPart(spec.slice(0, at).trim());
  const domain = readDomain(
    spec
      .slice(at + 1)
      .trim()
      .replace(/\.$/, ''),
  );
  return localPart === null || domain === null ? null : { localPart, domain };
}

/**
 * Zero-width characters, soft hyphens and marks of direction, which copied text carries along: no address has them, and they hide that two
 * addresses are the same. Joiners stay where letters of other scripts need them (RFC 5892 §A.1).
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** Such characters in a name are no defect. */
const hasInvisible = ({ angle, words, hasAt }: Element): boolean =>
  (angle ?? (hasAt ? words.map(({ text }) => text).join('') : '')).search(INVISIBLE) !== -1;

function withoutInvisible(text: string): string {
  const visible = text.replace(INVISIBLE, '');
  return /[^\u0000-\u007f\u200c\u200d]/.test(visible) ? visible : visible.replace(/[\u200c\u200d]/g, '');
}

/** RFC 5322 §4.4: comments, and white space around dots. Only for text short enough to be an address. */
function withoutBlank(spec: string): string {
  if (spec.length > MAX_SPEC_CHARS) return '';
  const visible = spec.replace(/\([^()]*\)/g, '');
  // Input: at most 320 characters, MAX_SPEC_CHARS.
  return visible.replace(/\s*([.@])\s*/g, '$1');
}

function readLocalPart(text: string): string | null {
  const quoted = text.startsWith('"') && endOfQuoted(text, 0) === text.length - 1;
  const content = quoted ? unescape(text.slice(1, -1)) : text;
  if (content === '' || /[\p{Cc}\u2028\u2029]/u.test(content)) return null;
  return quoted || !/[\s"(),:;<>@[\]\\]/.test(content) ? content : null;
}

function readDomain(text: string): string | null {
  return text.startsWith('[') && text.endsWith(']')
    ? toAddressLiteral(text.slice(1, -1))
    : toAsciiDomain(text);
}

function toName(words: readonly Word[]): string {
  let name = '';
  let plain = '';
  const flush = (): void => {
    name += decodeHeaderText(plain);
    plain = '';
  };
  for (const { text, quoted } of trimWords(words)) {
    if (quoted) {
      flush();
      name += decodeHeaderText(text);
    } else {
      plain += text;
    }
  }
  flush();
  return cutText(name.replace(CONTROLS, ' ').toWellFormed(), MAX_DISPLAY_NAME_CHARS);
}

/** White space around a name is not part of it; white space that is quoted or encoded is. */
function trimWords(words: readonly Word[]): readonly Word[] {
  const isBlank = ({ text, quoted }: Word): boolean => !quoted && text.trim() === '';
  const start = words.findIndex((word) => !isBlank(word));
  return start === -1 ? [] : words.slice(start, words.findLastIndex((word) => !isBlank(word)) + 1);
}

function brokenText(text: string): string {
  return text.replace(CONTROLS, ' ').slice(0, MAX_SPEC_CHARS).toWellFormed();
}

/** -1 when the quote is never closed. */
function endOfQuoted(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === '"') return at;
  }
  return -1;
}

function endOfComment(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at;
  }
  return -1;
}

/** The index of the `>`; if it is missing, of the next separator or the end. Quoted local parts may contain either. */
function endOfAngle(text: string, open: number): number {
  const isRoute = text.charAt(open + 1) === '@';
  for (let at = open + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '>' || character === '<' || (character === ',' && !isRoute)) return at;
    if (character === '"' && /[<@. ]/.test(text.charAt(at - 1))) {
      const end = endOfQuoted(text, at);
      if (end !== -1 && /^\s*@/.test(text.slice(end + 1, end + 5))) at = end;
    }
  }
  return text.length;
}

function unescape(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
