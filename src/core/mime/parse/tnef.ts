/**
 * Unpacks winmail.dat, Microsoft's TNEF ([MS-OXTNEF]): attachments and texts, which may be in compressed RTF alone.
 * Own code: the packages for it are unmaintained or wrap a binary. Nested TNEF (a forwarded item) stays packed.
 * Attachments share the memory of the input.
 */
import { decodeCharset } from '../text/charset.ts';
import { charsetOfCodepage } from '../text/codepage.ts';
import { MAX_TNEF_ENTRIES } from '../limits.ts';
import { unpackRtf } from './compressed-rtf.ts';
import { readRtf } from './rtf.ts';

export interface TnefContent {
  readonly attachments: readonly TnefAttachment[];
  readonly text: string | null;
  readonly html: string | null;
  /** False: it holds something else, such as the fields of an appointment, a picture within the text, or what could not be read. */
  readonly isWhole: boolean;
  /** A wrong length or checksum, or more entries than the limit: only what precedes it was read. */
  readonly isDamaged: boolean;
}

export interface TnefAttachment {
  /** As sent; null when it has none. */
  readonly filename: string | null;
  /** As sent; null when it names none. */
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly bytes: Buffer;
}

/** Values of the MAPI properties that we read, by number. */
type Properties = ReadonlyMap<number, Buffer | string>;

interface Draft {
  title: string | null;
  data: Buffer | null;
  properties: Properties;
}

// [MS-OXTNEF] §2.1.3.
const SIGNATURE = 0x223e9f78;
/** The signature and a key that means nothing here. */
const HEADER_BYTES = 6;
const LEVEL_MESSAGE = 1;
const LEVEL_ATTACHMENT = 2;
const ATT_BODY = 0x0002800c;
const ATT_MSG_PROPS = 0x00069003;
const ATT_OEM_CODEPAGE = 0x00069007;
const ATT_MESSAGE_CLASS = 0x00078008;
const ATT_ATTACH_REND_DATA = 0x00069002;
const ATT_ATTACH_TITLE = 0x00018010;
const ATT_ATTACH_DATA = 0x0006800f;
const ATT_ATTACHMENT = 0x00069005;

// [MS-OXPROPS].
const PID_MESSAGE_CLASS = 0x001a;
const PID_BODY = 0x1000;
const PID_RTF_COMPRESSED = 0x1009;
const PID_HTML = 0x1013;
const PID_INTERNET_CODEPAGE = 0x3fde;
const PID_ATTACH_DATA = 0x3701;
const PID_ATTACH_FILENAME = 0x3704;
const PID_ATTACH_LONG_FILENAME = 0x3707;
const PID_ATTACH_MIME_TAG = 0x370e;
const PID_ATTACH_CONTENT_ID = 0x3712;

const TYPE_STRING8 = 0x1e;
const TYPE_UNICODE = 0x1f;
const TYPE_OBJECT = 0x0d;
const MULTIPLE = 0x1000;
/** An object's value begins with the identifier of its interface. */
const INTERFACE_ID_BYTES = 16;

/** Sizes of values of fixed size, padded to four bytes ([MS-OXTNEF] §2.1.3.4). */
const FIXED_BYTES: Readonly<Record<number, number>> = {
  0x02: 4,
  0x03: 4,
  0x04: 4,
  0x05: 8,
  0x06: 8,
  0x07: 8,
  0x0a: 4,
  0x0b: 4,
  0x14: 8,
  0x40: 8,
  0x48: 16,
};

/** null when it is no TNEF. */
export function unpackTnef(file: Buffer): TnefContent | null {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== SIGNATURE) return null;
  const cursor = new Cursor(file);
  cursor.bytes(HEADER_BYTES);
  const drafts: Draft[] = [];
  let body: Buffer | null = null;
  let codepage: number | null = null;
  let messageClass: Buffer | null = null;
  let message: Properties = new Map();
  const readAttribute = (): void => {
    const level = cursor.uint8();
    const id = cursor.uint32();
    const data = cursor.bytes(cursor.uint32());
    if (cursor.uint16() !== checksum(data)) throw new RangeError('checksum');
    const draft = drafts.at(-1);
    if (level === LEVEL_MESSAGE) {
      if (id === ATT_BODY) body = data;
      else if (id === ATT_MESSAGE_CLASS) messageClass = data;
      else if (id === ATT_OEM_CODEPAGE) codepage = data.readUInt32LE(0);
      else if (id === ATT_MSG_PROPS) message = readProperties(cursor.within(data));
    } else if (level !== LEVEL_ATTACHMENT) {
      throw new RangeError('level');
    } else if (id === ATT_ATTACH_REND_DATA) {
      drafts.push({ title: null, data: null, properties: new Map() });
    } else if (draft !== undefined) {
      if (id === ATT_ATTACH_TITLE) draft.title = toText(data, codepage);
      else if (id === ATT_ATTACH_DATA) draft.data = data;
      else if (id === ATT_ATTACHMENT) draft.properties = readProperties(cursor.within(data));
    }
    cursor.count();
  };
  const isDamaged = !isReadToEnd(cursor, readAttribute);
  const internetCodepage = message.get(PID_INTERNET_CODEPAGE);
  const htmlCodepage = Buffer.isBuffer(internetCodepage) ? internetCodepage.readUInt32LE(0) : codepage;
  const attachments = drafts.flatMap((draft) => toAttachment(draft, codepage));
  const compressed = message.get(PID_RTF_COMPRESSED);
  const packed = Buffer.isBuffer(compressed) && compressed.length > 0 ? compressed : null;
  const unpacked = packed === null ? null : unpackRtf(packed);
  const rtf = unpacked === null ? null : readRtf(unpacked);
  const ofClass = textOf(message.get(PID_MESSAGE_CLASS) ?? messageClass, codepage);
  const hasAllFiles = attachments.length === drafts.length;
  const hasAllText = packed === null || rtf?.hasMore === false;
  return {
    attachments,
    text: textOf(message.get(PID_BODY) ?? body, codepage)?.replace(/\r\n?/g, '\n') ?? rtf?.text ?? null,
    html: textOf(message.get(PID_HTML) ?? null, htmlCodepage) ?? rtf?.html ?? null,
    isWhole: !isDamaged && hasAllFiles && hasAllText && (ofClass === null || ORDINARY.test(ofClass)),
    isDamaged,
  };
}

function isReadToEnd(cursor: Cursor, readAttribute: () => void): boolean {
  try {
    while (!cursor.atEnd()) readAttribute();
    return true;
  } catch (error) {
    // A read beyond the end, which Buffer reports, or an impossible value.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** [MS-OXOMSG]; the second one is its name in TNEF. Any other class, such as that of an appointment, has fields of its own. */
const ORDINARY = /^IPM\.(?:Microsoft Mail\.)?Note$/i;

function toAttachment(draft: Draft, codepage: number | null): readonly TnefAttachment[] {
  const { properties } = draft;
  const value = properties.get(PID_ATTACH_DATA);
  const bytes = draft.data ?? (Buffer.isBuffer(value) ? value : null);
  if (bytes === null) return [];
  const text = (id: number): string | null => textOf(properties.get(id) ?? null, codepage);
  return [
    {
      filename: text(PID_ATTACH_LONG_FILENAME) ?? draft.title ?? text(PID_ATTACH_FILENAME),
      contentType: text(PID_ATTACH_MIME_TAG),
      contentId: text(PID_ATTACH_CONTENT_ID),
      bytes,
    },
  ];
}

/** [MS-OXTNEF] §2.1.3.4 MsgPropertyList. */
function readProperties(cursor: Cursor): Properties {
  const properties = new Map<number, Buffer | string>();
  for (let left = cursor.uint32(); left > 0; left--) {
    const type = cursor.uint16();
    const id = cursor.uint16();
    if (id >= 0x8000) skipName(cursor);
    const value = readValue(cursor, type);
    if (value !== null) properties.set(id, value);
    cursor.count();
  }
  return properties;
}

function skipName(cursor: Cursor): void {
  cursor.bytes(16);
  if (cursor.uint32() === 0) cursor.uint32();
  else cursor.paddedBytes(cursor.uint32());
}

/** The first of several values; null when there is none. */
function readValue(cursor: Cursor, type: number): Buffer | string | null {
  const base = type & ~MULTIPLE;
  const fixed = FIXED_BYTES[base];
  if (fixed !== undefined) {
    const count = base === type ? 1 : cursor.uint32();
    const bytes = cursor.bytes(count * fixed);
    return count === 0 ? null : bytes.subarray(0, fixed);
  }
  let first: Buffer | null = null;
  for (let left = cursor.uint32(); left > 0; left--) {
    const bytes = cursor.paddedBytes(cursor.uint32());
    first ??= bytes;
    cursor.count();
  }
  if (first === null) return null;
  if (base === TYPE_UNICODE) return trimNul(first.toString('utf16le'));
  if (base === TYPE_OBJECT) return first.subarray(INTERFACE_ID_BYTES);
  return base === TYPE_STRING8 ? trimNul(first) : first;
}

function textOf(value: Buffer | string | null, codepage: number | null): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value.toWellFormed() : toText(value, codepage);
  return text === '' ? null : text;
}

function toText(bytes: Buffer, codepage: number | null): string {
  return decodeCharset(trimNul(bytes), codepage === null ? null : charsetOfCodepage(codepage)).text;
}

function trimNul(value: string): string;
function trimNul(value: Buffer): Buffer;
function trimNul(value: Buffer | string): Buffer | string {
  const end = value.indexOf('\0');
  if (end === -1) return value;
  return typeof value === 'string' ? value.slice(0, end) : value.subarray(0, end);
}

/** [MS-OXTNEF] §2.1.3.2: the sum of the bytes, modulo 65,536. */
function checksum(data: Buffer): number {
  let sum = 0;
  for (let at = 0; at < data.length; at++) sum = (sum + (data[at] ?? 0)) & 0xffff;
  return sum;
}

/** Reads forward; throws RangeError beyond the end and above the limit of entries. */
class Cursor {
  readonly #data: Buffer;
  readonly #counter: { entries: number };
  #at = 0;

  constructor(data: Buffer, counter = { entries: 0 }) {
    this.#data = data;
    this.#counter = counter;
  }

  /** A cursor for a value of this file; shares the count of entries. */
  within(data: Buffer): Cursor {
    return new Cursor(data, this.#counter);
  }

  count(): void {
    if (++this.#counter.entries > MAX_TNEF_ENTRIES) throw new RangeError('too many entries');
  }

  atEnd(): boolean {
    return this.#at >= this.#data.length;
  }

  uint8(): number {
    return this.bytes(1).readUInt8(0);
  }

  uint16(): number {
    return this.bytes(2).readUInt16LE(0);
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE(0);
  }

  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#data.length) throw new RangeError('beyond the end');
    const bytes = this.#data.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** Values are aligned to multiples of four bytes. */
  paddedBytes(length: number): Buffer {
    const bytes = this.bytes(length);
    this.#at = Math.min(this.#data.length, this.#at + ((4 - (length % 4)) % 4));
    return bytes;
  }
}
