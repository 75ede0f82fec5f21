/** Parses the raw bytes of a received message. Whatever the bytes are, the result can be recorded. */
import type { AutomaticContext } from '../../core/delivery/automatic.ts';
import type { ParsedMessage, ParseDefect } from '../../core/mime/parse/parsed-message.ts';
import { MAX_HEADER_BYTES } from '../../core/mime/limits.ts';
import type { Content } from '../files/file-ports.ts';
import type { Logger } from '../base/basics.ts';
import { readContent, sha256, sizeOf } from '../files/content.ts';
import {
  MAIL,
  type MessageReader,
  type ReadFailure,
  type ReadHeader,
  type ReceivedMessage,
} from './reading-ports.ts';
import type { UnreadableMail } from './unreadable-mail.ts';

export interface ReadReceivedPorts {
  readonly reader: MessageReader;
  readonly unreadable: UnreadableMail;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly logger: Logger;
}

/** The defect recorded beside `not_parsed`. */
const DEFECTS: Readonly<Record<ReadFailure, ParseDefect>> = {
  deadline: 'reading_took_too_long',
  memory: 'reading_took_too_much_memory',
  crash: 'reading_failed',
};

/**
 * Throws when the bytes can't be read from their source, `ServiceError('reading_unavailable')`, and `rate_limited` as MessageReader does.
 */
export async function readReceived(
  ports: ReadReceivedPorts,
  raw: Content,
  context: AutomaticContext,
  asker: string = MAIL,
): Promise<ReceivedMessage> {
  const { reader, unreadable, logger } = ports;
  // Nearly always there is nothing to compare with, and so nothing to hash.
  const known = unreadable.isEmpty ? null : await sha256(ports, raw);
  const failedBefore = known === null ? null : unreadable.reasonOf(known);
  if (known !== null && failedBefore !== null)
    return await readFields(ports, raw, known, failedBefore, asker);

  const result = await reader.read('message', { raw, context }, asker);
  if (result.kind === 'read') return result.value;
  // If the file can't be read, the reading fails too, and this throws.
  const digest = known ?? (await sha256(ports, raw));
  unreadable.add(digest, result.reason);
  logger.error(
    { sha256: digest, reason: result.reason, detail: result.detail },
    'a received message could not be parsed; it is recorded with its bytes',
  );
  return await readFields(ports, raw, digest, result.reason, asker);
}

/** The facts in the header of a message that can't be read as a whole. */
async function readFields(
  ports: ReadReceivedPorts,
  raw: Content,
  digest: string,
  reason: ReadFailure,
  asker: string,
): Promise<ReceivedMessage> {
  const header = await readRawHeader(ports, raw);
  const result = await ports.reader.read('fields', { header }, asker);
  const fields = result.kind === 'read' ? result.value : await readNothing();
  const message: ParsedMessage = {
    ...fields,
    // The digest of its bytes, so that two such messages are never taken for one.
    contentDigest: digest,
    fileDigests: [digest],
    sizeBytes: sizeOf(raw),
    defects: ['not_parsed', DEFECTS[reason]],
  };
  return { message, replyText: null, automatic: null, bounce: null, aggregate: null, forwardedFrom: [] };
}

/**
 * Other processes do the reading: this one loads the parser only for the rare message of which not even the header can be
 * read.
 */
async function readNothing(): Promise<ParsedMessage> {
  const { parseMessage } = await import('../../core/mime/parse/parse.ts');
  return parseMessage(Buffer.alloc(0));
}

/** The header of a message with the empty line after it, up to the length that headers are read. */
export async function readRawHeader(
  ports: Pick<ReadReceivedPorts, 'openFile'>,
  raw: Content,
): Promise<Buffer> {
  let header: Buffer = Buffer.alloc(0);
  for await (const chunk of readContent(ports, raw)) {
    header = Buffer.concat([header, chunk]).subarray(0, MAX_HEADER_BYTES);
    const end = EMPTY_LINES.map((line) => header.indexOf(line)).filter((at) => at !== -1);
    if (end.length > 0) return header.subarray(0, Math.min(...end) + 4);
    if (header.length === MAX_HEADER_BYTES) break;
  }
  return header;
}

/** Each with the end of the line before. */
const EMPTY_LINES = ['\n\n', '\n\r\n'];

const NOTHING: ReadHeader = { identity: null, date: null, facts: null };

/** Reads as much of the header as possible. Throws `ServiceError('reading_unavailable')`. */
export async function readHeader(reader: MessageReader, header: Buffer): Promise<ReadHeader> {
  const whole = await reader.read('header', { header, isShortened: false });
  if (whole.kind === 'read') return whole.value;
  const shortened = await reader.read('header', { header, isShortened: true });
  return shortened.kind === 'read' ? shortened.value : NOTHING;
}

/**
 * Headers that are read in one request: each request goes to another process and back, which costs as much as reading
 * some headers.
 */
const HEADERS_AT_ONCE = 25;

/**
 * Reads several headers, in their order. When a group fails, each header of it is requested alone, so that the bad one
 * harms no other. Throws the errors of readHeader.
 */
export async function readHeaders(
  reader: MessageReader,
  headers: readonly Buffer[],
): Promise<readonly ReadHeader[]> {
  const groups = Array.from({ length: Math.ceil(headers.length / HEADERS_AT_ONCE) }, (_, index) =>
    headers.slice(index * HEADERS_AT_ONCE, (index + 1) * HEADERS_AT_ONCE),
  );
  const read = await Promise.all(
    groups.map(async (group) => {
      const together = await reader.read('headers', { headers: group });
      if (together.kind === 'read') return together.value;
      return await Promise.all(group.map((header) => readHeader(reader, header)));
    }),
  );
  return read.flat();
}
