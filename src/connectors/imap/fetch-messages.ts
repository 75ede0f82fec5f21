/**
 * Reads whole messages (RFC 9051 §6.4.5, always BODY.PEEK): several small ones in one command, large ones in pieces. No size that the
 * server reports is trusted: every request names how many bytes it wants, and reading stops when fewer arrive.
 *
 * A message that the server can't give must not keep the others from being read: messages that are refused together are requested one by
 * one, and a message that is refused alone gets that error.
 */
import type { FetchMessageObject } from 'imapflow';
import { MailboxError, type FetchedMessage, type Uid } from '../../areas/mailboxes/mailbox-ports.ts';
import { fetchRows, findPresent, isRefused } from './fetch-rows.ts';
import type { ImapConnection } from './imap-connection.ts';
import {
  CHUNK_BYTES,
  MAX_BATCH_BYTES,
  MAX_BATCH_MESSAGES,
  MAX_MESSAGE_BYTES,
  MAX_UIDS_PER_COMMAND,
  SMALL_MESSAGE_BYTES,
} from './limits.ts';
import { inPortions } from './uid-set.ts';

/** How often a piece is requested again after it came with another offset, or not at all. */
const ATTEMPTS = 3;

export async function* fetchMessages(
  connection: ImapConnection,
  uids: readonly Uid[],
): AsyncGenerator<FetchedMessage> {
  for (const portion of inPortions(uids, MAX_UIDS_PER_COMMAND)) {
    const sizes = await fetchSizes(connection, portion);
    const present = portion.filter((uid) => sizes.has(uid));
    for (const batch of planBatches(present, sizes)) {
      const [first = 0, ...others] = batch;
      const size = sizes.get(first) ?? 0;
      if (others.length === 0 && size > SMALL_MESSAGE_BYTES) {
        yield* fetchLarge(connection, first, size);
      } else yield* fetchSmall(connection, batch);
    }
  }
}

/** In the order given; a large message has a batch of its own. */
export function* planBatches(
  uids: readonly Uid[],
  sizes: ReadonlyMap<Uid, number>,
): Generator<readonly Uid[]> {
  let batch: Uid[] = [];
  let bytes = 0;
  for (const uid of uids) {
    const size = sizes.get(uid) ?? 0;
    const large = size > SMALL_MESSAGE_BYTES;
    if (
      batch.length > 0 &&
      (large || batch.length === MAX_BATCH_MESSAGES || bytes + size > MAX_BATCH_BYTES)
    ) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (large) yield [uid];
    else {
      batch.push(uid);
      bytes += size;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Infinity for a message that exists but must be read alone, as its size is unknown or should not be asked for. */
async function fetchSizes(
  connection: ImapConnection,
  uids: readonly Uid[],
): Promise<ReadonlyMap<Uid, number>> {
  const sizes = new Map<Uid, number>();
  const { trusted } = connection.suspects.split(uids);
  for (const uid of trusted) {
    const size = connection.sizes.get(uid);
    if (size !== undefined) sizes.set(uid, size);
    connection.sizes.delete(uid);
  }
  try {
    const unknown = trusted.filter((uid) => !sizes.has(uid));
    await fetchRows(connection, unknown, { size: true }, ({ uid, size }) => {
      if (size !== undefined) sizes.set(uid, size);
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const missing = uids.filter((uid) => !sizes.has(uid));
  for (const uid of await findPresent(connection, missing)) sizes.set(uid, Infinity);
  return sizes;
}

async function* fetchSmall(
  connection: ImapConnection,
  batch: readonly Uid[],
): AsyncGenerator<FetchedMessage> {
  const sources = new Map<Uid, Buffer>();
  const overlong = new Set<Uid>();
  let refusal: MailboxError | null = null;
  let broken: unknown = null;
  try {
    // One extra byte reveals a message that is larger than the server said.
    const source = { start: 0, maxLength: SMALL_MESSAGE_BYTES + 1 };
    await fetchRows(connection, batch, { source }, (row) => {
      // Seen in practice: Dovecot gives an empty text and says OK for a message whose file was removed underneath it.
      if (!row.source || row.source.length === 0 || sources.has(row.uid)) return;
      // Its bytes are not kept: all messages of a batch could be like that.
      if (row.source.length > SMALL_MESSAGE_BYTES + 1) overlong.add(row.uid);
      else sources.set(row.uid, row.source);
    });
  } catch (error) {
    if (isRefused(error)) refusal = error;
    else broken = error;
  }
  const missing = batch.filter((uid) => !sources.has(uid));
  const present = new Set(broken === null ? await findPresent(connection, missing) : []);
  for (const uid of batch) {
    const source = sources.get(uid);
    sources.delete(uid);
    if (source !== undefined) yield { uid, raw: readSmall(connection, uid, source) };
    else if (overlong.has(uid)) yield { uid, raw: failing(tooMuch(uid)) };
    else if (present.has(uid)) {
      if (batch.length > 1) yield* fetchSmall(connection, [uid]);
      else
        yield {
          uid,
          raw: failing(refusal ?? new MailboxError('refused', `the server does not give UID ${uid}`)),
        };
    }
  }
  // Messages received before the failure count: otherwise a message that breaks the connection could keep it from ever being read.
  if (broken !== null) throw broken;
}

async function* readSmall(connection: ImapConnection, uid: Uid, source: Buffer): AsyncGenerator<Buffer> {
  const start = { bytes: source, asked: SMALL_MESSAGE_BYTES + 1 };
  if (source.length > SMALL_MESSAGE_BYTES) yield* readLarge(connection, uid, Infinity, start);
  else yield source;
}

async function* fetchLarge(
  connection: ImapConnection,
  uid: Uid,
  size: number,
): AsyncGenerator<FetchedMessage> {
  const start = await fetchChunk(connection, uid, 0).catch((error: unknown) => {
    if (isRefused(error)) return error;
    throw error;
  });
  if (Buffer.isBuffer(start) && start.length > 0) {
    yield { uid, raw: readLarge(connection, uid, size, { bytes: start, asked: CHUNK_BYTES }) };
  } else if ((await findPresent(connection, [uid])).length > 0) {
    const error = Buffer.isBuffer(start)
      ? new MailboxError('refused', `the server gives nothing of UID ${uid}`)
      : start;
    yield { uid, raw: failing(error) };
  }
}

/** @param start the beginning, and how much of it was requested */
async function* readLarge(
  connection: ImapConnection,
  uid: Uid,
  size: number,
  start: { readonly bytes: Buffer; readonly asked: number },
): AsyncGenerator<Buffer> {
  let offset = 0;
  let chunk = start.bytes;
  let { asked } = start;
  for (;;) {
    if (chunk.length > asked) throw tooMuch(uid);
    if (chunk.length > 0) yield chunk;
    offset += chunk.length;
    if (offset > MAX_MESSAGE_BYTES) throw new MailboxError('refused', `UID ${uid} has no end`);
    // RFC 9051 §6.4.5: a piece shorter than requested is the end. Requested once more when the size disagrees.
    if (chunk.length === 0 || (chunk.length < asked && offset >= size)) return;
    chunk = await fetchChunk(connection, uid, offset);
    asked = CHUNK_BYTES;
  }
}

/** Empty at the end of the message. */
async function fetchChunk(connection: ImapConnection, uid: Uid, offset: number): Promise<Buffer> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    let found: Buffer | null = null;
    let there = false;
    await fetchRows(connection, [uid], { source: { start: offset, maxLength: CHUNK_BYTES } }, (row) => {
      there = true;
      if (row.source && [null, offset].includes(readOrigin(row))) found ??= row.source;
    });
    if (found !== null) return found;
    // Seen in practice: NIL beyond the end of the message.
    if (there && attempt === ATTEMPTS && offset > 0) return Buffer.alloc(0);
  }
  throw new MailboxError('refused', `UID ${uid} can't be read any more`);
}

/** Where the piece starts, according to the server. Seen in practice (Apache James): the answer to an earlier request. */
function readOrigin(row: FetchMessageObject): number | null {
  const origins: unknown = 'partialOrigins' in row ? row.partialOrigins : null;
  const origin: unknown = origins instanceof Map ? origins.get('') : null;
  return typeof origin === 'number' ? origin : null;
}

function tooMuch(uid: Uid): MailboxError {
  return new MailboxError('refused', `the server gives more of UID ${uid} than was asked for`);
}

// oxlint-disable-next-line require-yield
async function* failing(error: MailboxError): AsyncGenerator<Buffer> {
  throw error;
}
