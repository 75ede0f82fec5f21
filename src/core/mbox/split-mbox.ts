/**
 * Splits an mbox file into its messages, as it is read: RFC 4155 and the dialects around it, mboxo and mboxrd.
 * mboxcl's Content-Length is ignored, since programs that edit messages leave it wrong. Line ends stay as they are.
 *
 * A separator is a line that begins with `From `, in one of these shapes; the first line of the file always is one:
 * - with a date (`From ada@example.com Mon Jan  5 10:00:00 2026`) after an empty line;
 * - with a date, but without the empty line, when the next line is a header field (Seen in practice: Eudora);
 * - with nothing after `From`, after an empty line, when the next line is a header field (Seen in practice: Thunderbird).
 * So a sentence that begins with "From " does not count as one, quoted or not.
 *
 * The empty line before a separator, and before the end of the file, belongs to the file, not to the message. One `>`
 * is removed from lines that begin with `>`s and `From `: mboxrd adds one to each of them, mboxo only to `From ` itself, so
 * mboxo's lines that began with `>From ` already lose one `>`.
 */

import { parseMessageDate } from '../message/date.ts';

/** `start` begins a message; the offset in the file is that of its separator. `bytes` are the next bytes of the message. */
export type MboxToken =
  | { readonly kind: 'start'; readonly offset: number; readonly separator: MboxSeparator }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** The content of a separator, as far as it can be read. */
export interface MboxSeparator {
  /** When the message was delivered. RFC 4155: in UTC when no zone is given. null: not known. */
  readonly date: Date | null;
}

export interface MboxSplitter {
  /** The tokens that are certain by now; their bytes are parts of the chunk, or copies. */
  write(chunk: Buffer): readonly MboxToken[];
  /** The rest. */
  end(): readonly MboxToken[];
}

/** A separator is no longer than this, in octets: RFC 5322 §2.1.1's longest line. */
const MAX_SEPARATOR_BYTES = 998;
/** Octets of the next line that suffice to recognise a header field. */
const LOOK_AHEAD_BYTES = 128;
const HEADER_FIELD = /^[!-9;-~]{1,100}:/;

const LF = 0x0a;
const CR = 0x0d;
const GREATER = 0x3e;
const FROM = Buffer.from('From ');
/** In UTF-8; editors write it at the start of a file. It belongs to the file, not to the first message. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * @param offset of the first byte that is written, when the file is read from there; a separator has to be at that offset
 */
export function createMboxSplitter(offset = 0): MboxSplitter {
  return new Splitter(offset);
}

/** True if a file that begins like this (8 octets are enough) is an mbox file. Empty lines before it do not count. */
export function isMboxStart(bytes: Buffer): boolean {
  const begin = startsWith(bytes, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  return startsWith(bytes.subarray(begin), FROM);
}

/** True if a separator may begin like this; 5 octets are enough. */
export function isSeparatorStart(bytes: Buffer): boolean {
  return startsWith(bytes, FROM);
}

const startsWith = (bytes: Buffer, begin: Buffer): boolean => bytes.subarray(0, begin.length).equals(begin);

/** The line at the position may be a separator. */
type Look = 'more' | 'no' | { readonly length: number; readonly line: string };

class Splitter implements MboxSplitter {
  /** Bytes that can't be judged yet; slightly more than MAX_SEPARATOR_BYTES + LOOK_AHEAD_BYTES at most. */
  #rest: Buffer = Buffer.alloc(0);
  /** Offset in the file of the first byte of `#rest`. */
  #offset: number;
  #started = false;
  /** Inside a line that is passed on unchanged. */
  #inLine = false;
  /** At the `>`s of a line, of which one is held back. */
  #inQuotes = false;
  /** The line end of an empty line that may belong to the file. */
  #emptyLine: Buffer | null = null;
  #tokens: MboxToken[] = [];

  constructor(offset: number) {
    this.#offset = offset;
  }

  write(chunk: Buffer): readonly MboxToken[] {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const used = this.#process(data, false);
    this.#offset += used;
    // A copy: a small rest must not keep the whole chunk in memory.
    this.#rest = Buffer.from(data.subarray(used));
    return this.#take();
  }

  end(): readonly MboxToken[] {
    this.#process(this.#rest, true);
    if (this.#inQuotes) this.#emit(Buffer.from('>'));
    this.#rest = Buffer.alloc(0);
    return this.#take();
  }

  #take(): readonly MboxToken[] {
    const tokens = this.#tokens;
    this.#tokens = [];
    return tokens;
  }

  /** Returns the number of bytes that are finished. */
  #process(data: Buffer, isEnd: boolean): number {
    let position = 0;
    while (position < data.length) {
      const next = this.#step(data, position, isEnd);
      if (next === null) break;
      position = next;
    }
    return position;
  }

  /** Processes a line, or a part of one. Returns the position after it; null when there are too few bytes to decide. */
  #step(data: Buffer, position: number, isEnd: boolean): number | null {
    if (this.#inLine) return this.#copyLine(data, position);
    if (this.#inQuotes) return this.#copyQuotes(data, position, isEnd);
    const first = data[position];
    if (this.#offset + position === 0 && first === BYTE_ORDER_MARK[0]) {
      const begin = data.subarray(0, BYTE_ORDER_MARK.length);
      if (begin.equals(BYTE_ORDER_MARK)) return begin.length;
      if (!isEnd && startsWith(BYTE_ORDER_MARK, begin)) return null;
    }
    if (first === LF) return this.#holdEmptyLine(data, position, 1);
    if (first === CR) {
      if (position + 1 === data.length && !isEnd) return null;
      if (data[position + 1] === LF) return this.#holdEmptyLine(data, position, 2);
    } else if (first === GREATER) {
      this.#giveEmptyLine();
      this.#inQuotes = true;
      // The `>` that is held back.
      return position + 1;
    } else if (first === FROM[0]) {
      const look = this.#look(data, position, isEnd);
      if (look === 'more') return null;
      if (look !== 'no') {
        this.#start(position, look.line);
        return position + look.length;
      }
    }
    this.#giveEmptyLine();
    this.#inLine = true;
    return position;
  }

  /** Copies the rest of a line, and the following lines that need no change in any case. */
  #copyLine(data: Buffer, position: number): number {
    let end = position;
    do {
      const lineFeed = data.indexOf(LF, end);
      this.#inLine = lineFeed === -1;
      end = lineFeed === -1 ? data.length : lineFeed + 1;
    } while (end < data.length && isPlain(data[end]));
    this.#emit(data.subarray(position, end));
    return end;
  }

  #copyQuotes(data: Buffer, position: number, isEnd: boolean): number | null {
    let end = position;
    while (data[end] === GREATER) end += 1;
    // One `>` is already held back; it does not matter which.
    if (end > position) {
      this.#emit(data.subarray(position, end));
      return end;
    }
    const begin = data.subarray(position, position + FROM.length);
    if (begin.length < FROM.length && !isEnd && FROM.subarray(0, begin.length).equals(begin)) return null;
    if (!begin.equals(FROM)) this.#emit(Buffer.from('>'));
    this.#inQuotes = false;
    this.#inLine = true;
    return position;
  }

  #look(data: Buffer, position: number, isEnd: boolean): Look {
    const begin = data.subarray(position, position + FROM.length);
    if (!FROM.subarray(0, begin.length).equals(begin)) return 'no';
    if (begin.length < FROM.length) return isEnd ? 'no' : 'more';
    const lineFeed = data.subarray(position, position + MAX_SEPARATOR_BYTES).indexOf(LF);
    if (lineFeed === -1 && data.length - position >= MAX_SEPARATOR_BYTES) return 'no';
    if (lineFeed === -1 && !isEnd) return 'more';
    const length = lineFeed === -1 ? data.length - position : lineFeed + 1;
    const line = data.toString('latin1', position, position + length).trimEnd();
    if (!this.#started) return { length, line };
    if (isDated(line)) {
      if (this.#emptyLine !== null) return { length, line };
    } else if (line !== 'From' || this.#emptyLine === null) {
      return 'no';
    }
    const nextLine = data.toString('latin1', position + length, position + length + LOOK_AHEAD_BYTES);
    if (HEADER_FIELD.test(nextLine)) return { length, line };
    return isEnd || nextLine.length === LOOK_AHEAD_BYTES || nextLine.includes('\n') ? 'no' : 'more';
  }

  #start(position: number, line: string): void {
    this.#emptyLine = null;
    this.#started = true;
    this.#tokens.push({
      kind: 'start',
      offset: this.#offset + position,
      separator: { date: readDate(line) },
    });
  }

  #holdEmptyLine(data: Buffer, position: number, length: number): number {
    this.#giveEmptyLine();
    // Empty lines before the first separator belong to no message.
    if (this.#started) this.#emptyLine = data.subarray(position, position + length);
    return position + length;
  }

  #giveEmptyLine(): void {
    if (this.#emptyLine !== null) this.#emit(this.#emptyLine);
    this.#emptyLine = null;
  }

  #emit(bytes: Buffer): void {
    if (!this.#started) {
      this.#started = true;
      this.#tokens.push({ kind: 'start', offset: this.#offset, separator: { date: null } });
    }
    const last = this.#tokens.at(-1);
    const joined = last?.kind === 'bytes' ? join(last.bytes, bytes) : null;
    if (joined === null) this.#tokens.push({ kind: 'bytes', bytes });
    else this.#tokens[this.#tokens.length - 1] = { kind: 'bytes', bytes: joined };
  }
}

/** A line that begins like this has nothing to do with the format. */
function isPlain(first: number | undefined): boolean {
  return first !== FROM[0] && first !== GREATER && first !== LF && first !== CR;
}

/** Joins adjacent parts of the same chunk without copying; null when they are not adjacent. Most lines are. */
function join(before: Buffer, after: Buffer): Buffer | null {
  if (before.buffer !== after.buffer || before.byteOffset + before.length !== after.byteOffset) return null;
  return Buffer.from(before.buffer, before.byteOffset, before.length + after.length);
}

/** A weekday, a time and a year, as asctime writes them; their order, the zone and the text between them vary. */
function isDated(line: string): boolean {
  return (
    /[ \t](?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)[ ,]/.test(line) &&
    /[ \t]\d{1,2}:\d\d[ :\t]/.test(line) &&
    /[ \t](?:19|20)\d\d(?:[ \t]|$)/.test(line)
  );
}

function readDate(line: string): Date | null {
  const begin = line.search(/ (?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)[ ,]/);
  if (begin === -1) return null;
  const text = line.slice(begin).replace(/\s+/g, ' ').trim();
  // Seen in practice: the zone after the year.
  return parseMessageDate(text.replace(/ (\d{4}) ([+-]\d{4})$/, ' $2 $1'));
}
