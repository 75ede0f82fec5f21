/** One email of an import: read it, record it, and wait while the database or the storage is unavailable. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { readStatus } from '../../core/mbox/read-status.ts';
import type { ReceiveRequest, ReceiveResult } from '../receive/use-cases.ts';
import { DELIVERY_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import type { Content, Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { sizeOf } from '../../platform/files/content.ts';
import { readRaw } from '../../platform/files/read-raw.ts';
import { readHeader, readRawHeader } from '../../platform/reading/read-received.ts';
import type { MessageReader } from '../../platform/reading/reading-ports.ts';

export interface RecordImportedPorts {
  readonly receive: (request: ReceiveRequest, folder: SpoolFolder) => Promise<ReceiveResult>;
  readonly reader: MessageReader;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly spool: Spool;
  readonly logger: Logger;
  /** Larger messages are not recorded; in bytes. */
  readonly maxBytes: number;
  /** How long the database or the storage may stay unavailable, in ms. */
  readonly patienceMs: number;
}

/** A message that was read; `folder` holds it when it is large. */
export interface ReadMessage {
  readonly raw: Content;
  readonly folder: SpoolFolder;
}

export interface ImportedMessage extends ReadMessage {
  readonly accountId: string;
  readonly isSentCopy: boolean;
  readonly since: Date | null;
  /** null: by its Status field; without one it counts as read, as old mail does. */
  readonly isRead: boolean | null;
  /** Used when neither Date nor Received can be read. */
  readonly foundAt: Date;
  /** See `MailSource`. */
  readonly place: 'maildir' | 'mbox' | 'file';
}

/** `stopped`: the import ends; it is unknown if the email is recorded. */
export type ImportOutcome = 'imported' | 'known' | 'older' | 'empty' | 'stopped';

/** Unavailable for a time. */
const AWAY: ReadonlySet<ErrorCode> = new Set([
  'database_unavailable',
  'storage_unavailable',
  'storage_mismatch',
  'reading_unavailable',
]);
const RETRY_AFTER_MS = 1000;
/** Tries while a send is under way that the email may be a copy of. */
const BUSY_TRIES = 3;

/** True for a failure that every other message would hit too. */
export function isFatal(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (AWAY.has(error.code) || error.code === 'disk_full' || error.code === 'unknown_account')
  );
}

/** Throws when the message is too large, and the errors of `body`, and `disk_full`. */
export async function readImported(
  { spool, maxBytes }: RecordImportedPorts,
  body: AsyncIterable<Buffer>,
): Promise<ReadMessage> {
  const folder = spool.create();
  try {
    const raw = await readRaw(limited(body, maxBytes), DELIVERY_IN_MEMORY_MAX_BYTES, folder);
    return { raw, folder };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/**
 * Removes the folder. Throws the errors of `receive`; when something stays unavailable for `patienceMs`, that error.
 *
 * @param onWaiting called each time something becomes unavailable
 */
export async function recordImported(
  ports: RecordImportedPorts,
  message: ImportedMessage,
  onWaiting: (reason: string) => void,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  const { raw, folder, since, foundAt } = message;
  try {
    if (sizeOf(raw) === 0) return 'empty';
    if (since !== null && ((await readDate(ports, raw)) ?? foundAt) < since) return 'older';
    const isRead = message.isRead ?? readStatus(await readRawHeader(ports, raw)) ?? true;
    return await recordPatiently(ports, { ...message, isRead }, onWaiting, signal);
  } finally {
    await folder.remove();
  }
}

async function recordPatiently(
  { receive, spool, patienceMs }: RecordImportedPorts,
  { raw, accountId, isSentCopy, isRead, foundAt, place }: ImportedMessage & { readonly isRead: boolean },
  onWaiting: (reason: string) => void,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  let awaySince: number | null = null;
  for (let tries = 1; ; tries += 1) {
    try {
      const source = { way: 'import', place } as const;
      const request = { raw, accountId, isSentCopy, isRead, foundAt, source };
      const { kind } = await receive(request, spool.create());
      return kind === 'received' ? 'imported' : 'known';
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (AWAY.has(error.code)) {
        if (awaySince === null) onWaiting(error.code);
        awaySince ??= performance.now();
        if (performance.now() - awaySince > patienceMs) throw error;
      } else if (error.code !== 'busy' || tries >= BUSY_TRIES) {
        throw error;
      }
    }
    await wait(RETRY_AFTER_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return 'stopped';
  }
}

/** The date in its header; null when the header has none. */
async function readDate(ports: RecordImportedPorts, raw: Content): Promise<Date | null> {
  return (await readHeader(ports.reader, await readRawHeader(ports, raw))).date;
}

async function* limited(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new Error(`larger than MAX_INBOUND_BYTES, ${maxBytes} bytes`);
    yield chunk;
  }
}
