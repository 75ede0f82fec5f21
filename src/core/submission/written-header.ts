/**
 * The header of a submitted message, RFC 5322 §2.2 and §3.6. Strict, unlike the reader of received mail: the message goes out in the name of
 * an account, so what programs could read in two ways is refused, and the fields here are those that every reader finds.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { MAX_HEADER_BYTES } from '../mime/limits.ts';
import { refuse } from './refusal.ts';

export interface WrittenField {
  /** In lower case. */
  readonly name: string;
  /** With its CRLF; octets are characters (latin1). */
  readonly text: string;
}

export interface WrittenHeader {
  /** In order, without those that are left out. */
  readonly fields: readonly WrittenField[];
  /** Octets of the header as it came, with the empty line behind it. */
  readonly sizeBytes: number;
  /** Fields were left out. */
  readonly isChanged: boolean;
}

/** Fields of one header. Real ones have 20 to 300. */
const MAX_FIELDS = 1000;

const HEADER_END = '\r\n\r\n';

// RFC 5322 §2.2; §4.5 forbids to write white space before the colon.
const FIELD = /^([!-9;-~]+):/;

/** RFC 5322 §3.6: at most once. Those of MIME too (RFC 2045 §3), as readers differ in which one counts. */
const SINGLE_FIELDS: ReadonlySet<string> = new Set([
  'date',
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'message-id',
  'in-reply-to',
  'references',
  'subject',
  'auto-submitted',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]);

/**
 * Fields that name blind recipients, or mean something only where a message is delivered. They are left out, as Postfix does
 * (message_drop_headers): the envelope decides who gets the message.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['bcc', 'return-path', 'content-length']);

/** By these a relay's copy is matched with its send, so that no sender may set them. */
const RESERVED: ReadonlySet<string> = new Set([
  'x-google-original-message-id',
  'x-microsoft-original-message-id',
]);

/** True when the beginning of a message contains its whole header. */
export const hasWholeHeader = (beginning: Buffer): boolean => beginning.includes(HEADER_END, 0, 'latin1');

/**
 * Reads the header at the beginning of a message, whose lines end in CRLF. Throws RefusedSubmission.
 *
 * @param isUtf8Allowed the client asked for SMTPUTF8 (RFC 6532)
 */
export function readWrittenHeader(beginning: Buffer, isUtf8Allowed: boolean): WrittenHeader {
  const end = beginning.indexOf(HEADER_END, 0, 'latin1');
  if (end === -1) {
    if (beginning.length >= MAX_HEADER_BYTES) throw refuse(552, '5.3.4', 'the header is too long');
    throw refuse(550, '5.6.0', 'the message has no empty line behind its header');
  }
  const block = beginning.subarray(0, end + 2);
  refuseCharacters(block, isUtf8Allowed);
  const fields = splitFields(block.toString('latin1'));
  if (fields.length > MAX_FIELDS) throw refuse(550, '5.6.0', `the header has more than ${MAX_FIELDS} fields`);
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (SINGLE_FIELDS.has(name) && seen.has(name))
      throw refuse(550, '5.6.0', `the header field ${name} occurs twice`);
    seen.add(name);
    if (RESERVED.has(name) || name.startsWith('resent-'))
      throw refuse(550, '5.7.1', `the header field ${name} can not be sent`);
  }
  if (!seen.has('from')) throw refuse(550, '5.6.0', 'the message has no header field From');
  const kept = fields.filter(({ name }) => !LEFT_OUT.has(name));
  return {
    fields: kept,
    sizeBytes: end + HEADER_END.length,
    isChanged: kept.length < fields.length,
  };
}

/** The header that takes the place of the written one, with the empty line. @param added further fields, without CRLF */
export function formatWrittenHeader({ fields }: WrittenHeader, added: readonly string[]): Buffer {
  const texts = [...fields.map(({ text }) => text), ...added.map((field) => `${field}\r\n`)];
  return Buffer.from(`${texts.join('')}\r\n`, 'latin1');
}

// RFC 5322 §2.2: no controls but TAB, and CR and LF at the ends of lines, which were checked when the message arrived.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

function refuseCharacters(block: Buffer, isUtf8Allowed: boolean): void {
  if (CONTROLS.test(block.toString('latin1')))
    throw refuse(550, '5.6.0', 'the header has control characters');
  if (isAscii(block)) return;
  if (!isUtf8Allowed)
    throw refuse(
      550,
      '5.6.9',
      'the header has characters beyond ASCII: encode them (RFC 2047), or use SMTPUTF8',
    );
  if (!isUtf8(block)) throw refuse(550, '5.6.9', 'the header is not UTF-8');
}

function splitFields(block: string): readonly WrittenField[] {
  const fields: { readonly name: string; text: string }[] = [];
  for (const [index, line] of block.split('\r\n').slice(0, -1).entries()) {
    const isContinued = /^[ \t]/.test(line);
    const last = fields.at(-1);
    const [, name] = FIELD.exec(line) ?? [];
    // Some readers take a line of white space for the end of the header.
    if (isContinued && last !== undefined && line.trim() !== '') last.text += `${line}\r\n`;
    else if (!isContinued && name !== undefined)
      fields.push({ name: name.toLowerCase(), text: `${line}\r\n` });
    else throw refuse(550, '5.6.0', `line ${index + 1} of the header is no header field`);
  }
  return fields;
}
