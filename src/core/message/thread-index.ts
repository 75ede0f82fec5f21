/**
 * `Thread-Index`, by which Outlook and Exchange group the emails of a conversation: PidTagConversationIndex of [MS-OXOMSG]
 * §2.2.1.3, in Base64. A header of 22 bytes (0x01, the upper 40 bits of a FILETIME, a GUID) is followed by 5 bytes for each
 * answer: 31 bits of the time since the header, and a random byte. Emails with one GUID are one conversation.
 */
import { createHash } from 'node:crypto';

const HEADER_BYTES = 22;
const RESERVED = 0x01;
const GUID_AT = 6;
const LEVEL_BYTES = 5;
/** Levels of answers that are distinguished; a deeper answer is placed beside the last level, in the same conversation. */
const MAX_LEVELS = 100;
export const MAX_THREAD_INDEX_BYTES = HEADER_BYTES + MAX_LEVELS * LEVEL_BYTES;

/** Characters that are read: those of the longest one that is kept, with room for its folds. */
const MAX_CHARS = 4 * MAX_THREAD_INDEX_BYTES;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** In Base64 without white space, cut if it is too long; null when it is not a Thread-Index. @param value of the field */
export function readThreadIndex(value: string | null): string | null {
  if (value === null) return null;
  const text = value.slice(0, MAX_CHARS).replace(/[ \t]+/g, '');
  if (!BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64').subarray(0, MAX_THREAD_INDEX_BYTES);
  if (bytes.length < HEADER_BYTES || bytes[0] !== RESERVED) return null;
  // Seen in practice: a level that is not whole, where a gateway cut the line.
  const whole = bytes.length - ((bytes.length - HEADER_BYTES) % LEVEL_BYTES);
  return bytes.subarray(0, whole).toString('base64');
}

export interface NewThreadIndex {
  /** The answered email's, from readThreadIndex; null: it has none, or the email answers nothing. */
  readonly parent: string | null;
  readonly threadId: string;
  readonly date: Date;
  /** 0 to 255; distinguishes answers of one moment. */
  readonly random: number;
}

/** The Thread-Index of an email that is sent. */
export function nextThreadIndex({ parent, threadId, date, random }: NewThreadIndex): string {
  const now = toFileTime(date);
  if (parent === null) {
    const header = Buffer.alloc(HEADER_BYTES);
    header[0] = RESERVED;
    header.writeUIntBE(Number(now >> 24n), 1, 5);
    // The same for every email of the thread, without revealing an id of ours that others could use.
    createHash('sha256')
      .update(`thread ${threadId}`)
      .digest()
      .copy(header, GUID_AT, 0, HEADER_BYTES - GUID_AT);
    return header.toString('base64');
  }
  const above = Buffer.from(parent, 'base64').subarray(0, MAX_THREAD_INDEX_BYTES - LEVEL_BYTES);
  const level = Buffer.alloc(LEVEL_BYTES);
  level.writeUInt32BE(toDelta(now - headerTime(above)), 0);
  level[LEVEL_BYTES - 1] = random;
  return Buffer.concat([above, level]).toString('base64');
}

/** 100 ns since 1601 in 64 bits, [MS-DTYP] §2.3.3; times out of range become the nearest one in it. */
function toFileTime(date: Date): bigint {
  const time = (BigInt(date.getTime()) + 11_644_473_600_000n) * 10_000n;
  if (time < 0n) return 0n;
  return time < MAX_FILE_TIME ? time : MAX_FILE_TIME;
}

const MAX_FILE_TIME = (1n << 64n) - 1n;

/** Seen in practice: Outlook uses the uppermost byte of the time, which is 0x01 too, as the reserved one. */
function headerTime(index: Buffer): bigint {
  return index[1] === RESERVED
    ? BigInt(index.readUIntBE(1, 5)) << 24n
    : BigInt(index.readUIntBE(0, 6)) << 16n;
}

const MAX_DELTA = 0x7fff_ffffn;

/** The delta code and its 31 bits: a finer scale for the first 1.7 years, a coarser one, marked by the first bit, after that. */
function toDelta(difference: bigint): number {
  if (difference < 0n) return 0;
  if (difference < 1n << 49n) return Number(difference >> 18n);
  const delta = difference >> 23n;
  return Number(delta < MAX_DELTA ? delta : MAX_DELTA) + 0x8000_0000;
}
