/**
 * Reads the address lists that callers give in `to`, `cc` and `bcc`: RFC 5322 §3.4 with the UTF-8 of RFC 6532, and
 * encoded words (RFC 2047) in display names. Strict: text that is not clearly an address is an error that quotes it,
 * since a guess would send mail to a stranger. Headers of received mail need a lenient parser, which this is not.
 *
 * Beyond the grammar of RFC 5322 §3.4, these are accepted. Seen in practice:
 * - `;` between addresses, and at the end, as Outlook shows lists;
 * - empty elements, as in `a@example.com,,b@example.com,`;
 * - dots in unquoted display names (`Dr. Max Muster`), as RFC 5322 §4.1 asks of parsers;
 * - no-break and other non-ASCII spaces as white space, from copied text.
 * Not accepted, although RFC 5322 §4.4 allows them: routes (`<@a,@b:c@d>`) and words joined by dots in a local part.
 *
 * The parser reads every character once and never recurses, so its time grows with the length only.
 */
import { ServiceError } from '../errors.ts';
import { refuse, type NoteMistake } from '../mistakes.ts';
import { decodeEncodedWords, isEncodedWord } from '../mime/text/encoded-word.ts';
import { addrSpec, formatLocalPart, isDotAtom, type Address } from './address.ts';
import { toAddressLiteral, toAsciiDomain } from './domain.ts';
import {
  MAX_ADDR_SPEC_OCTETS,
  MAX_ADDRESS_LIST_CHARS,
  MAX_COMMENT_DEPTH,
  MAX_DISPLAY_NAME_CHARS,
  MAX_LOCAL_PART_OCTETS,
} from './limits.ts';

/** Controls but TAB, which is white space (RFC 5234 `WSP`). */
const FORBIDDEN_CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;

/**
 * Invisible in a local part: spaces, controls, formatting such as right-to-left marks. They would make two addresses
 * look the same. The joiners U+200C and U+200D are spelling in Persian and Indic scripts.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Z}\p{Cc}\p{Cf}]/u;

/** ASCII characters of an unquoted word, including the dot of display names and dot-atoms. */
const WORD_CHARS = new Set(
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~.",
);
const NON_ASCII_SPACE = /[^\u0000-\u007f\S]/;

/** A word of a phrase or a local part. */
interface Word {
  /** Without its quotes. */
  readonly text: string;
  readonly quoted: boolean;
  /** White space or a comment stood before it. */
  readonly apart: boolean;
}

/**
 * Reads a list of addresses; groups are flattened, and an empty group such as `undisclosed-recipients:;` adds
 * nothing. The order and any repeats are kept; an empty text is an empty list. `field` names the list in errors.
 *
 * Mistakes are `invalid_address`, which quotes the bad element, and `header_injection` for control characters other than
 * TAB, encoded ones included. After a bad element that is noted, reading goes on behind the next separator.
 */
export function parseAddressList(text: string, field: string, note = refuse): readonly Address[] {
  if (FORBIDDEN_CONTROL.test(text)) note(new ServiceError('header_injection', { values: { field } }));
  else if (text.length > MAX_ADDRESS_LIST_CHARS || !text.isWellFormed()) note(invalidAddress(field, text));
  else return new ListParser(text, field, note).parse();
  return [];
}

/** Reads exactly one address, for example a configured sender. Throws as parseAddressList does. */
export function parseAddress(text: string, field: string): Address {
  const [address, ...more] = parseAddressList(text, field);
  if (address === undefined || more.length > 0) throw invalidAddress(field, text);
  return address;
}

/** Ends the reading of an element whose mistake was noted. */
class BadElement extends Error {}

class ListParser {
  readonly #text: string;
  readonly #field: string;
  readonly #note: NoteMistake;
  readonly #found: Address[] = [];
  /** Index of the next character. */
  #at = 0;
  /** Start of the current element, for errors. */
  #elementStart = 0;

  constructor(text: string, field: string, note: NoteMistake) {
    this.#text = text;
    this.#field = field;
    this.#note = note;
  }

  parse(): readonly Address[] {
    for (;;) {
      try {
        return this.#readRest();
      } catch (error) {
        if (!(error instanceof BadElement)) throw error;
      }
    }
  }

  #readRest(): readonly Address[] {
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (next === '') return this.#found;
      if (next === ',' || next === ';') {
        this.#at++;
        continue;
      }
      this.#elementStart = this.#at;
      this.#readMailboxOrGroup(true);
      this.#skipBlank();
      if (!['', ',', ';'].includes(this.#peek())) this.#fail();
    }
  }

  #readMailboxOrGroup(groupAllowed: boolean): void {
    const words = this.#readWords();
    switch (this.#peek()) {
      case '<':
        this.#at++;
        this.#found.push(this.#readAngleAddress(words));
        return;
      case '@':
        this.#found.push(this.#readAddrSpec(words, ''));
        return;
      case ':':
        if (!groupAllowed || words.length === 0) this.#fail();
        this.#at++;
        this.#readGroup();
        return;
      default:
        this.#fail();
    }
  }

  /** Reads from after the `:` of a group to its `;`, included. */
  #readGroup(): void {
    const groupStart = this.#elementStart;
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (next === ';') {
        this.#at++;
        return;
      }
      if (next === '') {
        this.#elementStart = groupStart;
        this.#fail();
      }
      if (next === ',') {
        this.#at++;
        continue;
      }
      this.#elementStart = this.#at;
      this.#readMailboxOrGroup(false);
      this.#skipBlank();
      if (!['', ',', ';'].includes(this.#peek())) this.#fail();
    }
  }

  /** Reads from after the `<` to the `>`, included. */
  #readAngleAddress(nameWords: readonly Word[]): Address {
    const name = this.#toName(nameWords);
    const address = this.#readAddrSpec(this.#readWords(), name);
    this.#skipBlank();
    if (this.#peek() !== '>') this.#fail();
    this.#at++;
    return address;
  }

  /** At the `@`; `words` are the words before it. */
  #readAddrSpec(words: readonly Word[], name: string): Address {
    const localPart = this.#toLocalPart(words);
    if (this.#peek() !== '@') this.#fail();
    this.#at++;
    this.#skipBlank();
    const domain = this.#peek() === '[' ? this.#readLiteral() : toAsciiDomain(this.#readAtom());
    if (domain === null) this.#fail();
    const address: Address = { name, localPart, domain };
    if (Buffer.byteLength(addrSpec(address)) > MAX_ADDR_SPEC_OCTETS) this.#fail();
    return address;
  }

  #toLocalPart(words: readonly Word[]): string {
    const [word, ...more] = words;
    if (word === undefined || more.length > 0 || word.text === '') this.#fail();
    if (!word.quoted && !isDotAtom(word.text)) this.#fail();
    if (INVISIBLE.test(word.text.replaceAll(' ', ''))) this.#fail();
    if (Buffer.byteLength(formatLocalPart(word.text)) > MAX_LOCAL_PART_OCTETS) this.#fail();
    return word.text;
  }

  #toName(words: readonly Word[]): string {
    let name = '';
    for (let index = 0; index < words.length;) {
      const run: string[] = [];
      for (let word = words[index]; word !== undefined; word = words[index]) {
        // RFC 2047 §5: an encoded word is an atom, never part of a quoted string.
        if (word.quoted || !isEncodedWord(word.text) || (index > 0 && !word.apart)) break;
        run.push(word.text);
        index++;
      }
      const word = run.length === 0 ? words[index++] : undefined;
      const apart = run.length > 0 || word?.apart === true;
      if (name !== '' && apart) name += ' ';
      name += word === undefined ? decodeEncodedWords(run).replaceAll('\t', ' ') : word.text;
    }
    if (FORBIDDEN_CONTROL.test(name)) {
      this.#refuse(new ServiceError('header_injection', { values: { field: this.#field } }));
    }
    if (name.length > MAX_DISPLAY_NAME_CHARS) this.#fail();
    return name;
  }

  #readWords(): readonly Word[] {
    const words: Word[] = [];
    for (;;) {
      const apart = this.#skipBlank();
      const quoted = this.#peek() === '"';
      const text = quoted ? this.#readQuoted() : this.#readAtom();
      if (text === '' && !quoted) return words;
      words.push({ text, quoted, apart });
    }
  }

  #readAtom(): string {
    const start = this.#at;
    while (isWordChar(this.#peek())) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  /** RFC 5322 §3.2.4: at the opening quote; returns the content, quoted pairs resolved and TAB as space. */
  #readQuoted(): string {
    let content = '';
    for (this.#at++; ; this.#at++) {
      let character = this.#peek();
      if (character === '"') {
        this.#at++;
        return content;
      }
      if (character === '\\') {
        this.#at++;
        character = this.#peek();
      }
      if (character === '') this.#fail();
      content += character === '\t' ? ' ' : character;
    }
  }

  /** At the `[` of an address literal. */
  #readLiteral(): string | null {
    const end = this.#text.indexOf(']', this.#at);
    if (end === -1) this.#fail();
    const literal = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return toAddressLiteral(literal);
  }

  /** Skips white space and comments (RFC 5322 §3.2.2); returns true if there was any. */
  #skipBlank(): boolean {
    const start = this.#at;
    for (;;) {
      const character = this.#peek();
      if (character === '(') this.#skipComment();
      else if (isSpace(character)) this.#at++;
      else return this.#at > start;
    }
  }

  #skipComment(): void {
    let depth = 0;
    do {
      const character = this.#peek();
      if (character === '') this.#fail();
      if (character === '(') depth++;
      if (character === ')') depth--;
      if (depth > MAX_COMMENT_DEPTH) this.#fail();
      this.#at += character === '\\' ? 2 : 1;
    } while (depth > 0);
  }

  /** The next character (UTF-16 unit), or an empty string at the end. */
  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** Reports the current element, up to the separator after the error. */
  #fail(): never {
    this.#refuse(invalidAddress(this.#field, this.#text.slice(this.#elementStart, this.#endOfElement())));
  }

  #refuse(mistake: ServiceError): never {
    this.#note(mistake);
    this.#at = this.#endOfElement();
    throw new BadElement();
  }

  #endOfElement(): number {
    const rest = this.#text.slice(this.#at).search(/[,;]/);
    return rest === -1 ? this.#text.length : this.#at + rest;
  }
}

function invalidAddress(field: string, value: string): ServiceError {
  return new ServiceError('invalid_address', { values: { field, value: value.trim() } });
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t' || (character > '\u007f' && NON_ASCII_SPACE.test(character));
}

function isWordChar(character: string): boolean {
  return character > '\u007f' ? !NON_ASCII_SPACE.test(character) : WORD_CHARS.has(character);
}
