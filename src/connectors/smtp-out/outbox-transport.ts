/**
 * The transport for trying out the service: each message becomes a file and is not delivered. `<time>-<random>.eml` contains the message
 * byte for byte, `<time>-<random>.json` beside it the envelope.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, Transport, TransportResult } from '../../areas/send/transport-ports.ts';
import type { Reply } from '../../core/delivery/states.ts';
import { ContentChangedError, readExactly } from './message-stream.ts';
import { toAccepted, toRefused, NONE_REFUSED } from './send-result.ts';

/**
 * Writes into `folder`, which is created when missing, for this user alone. A message is on the disk when `send` returns, and visible as
 * `.eml` only when whole; its `.json` exists before it.
 */
export function createOutboxTransport(folder: string): Transport {
  const underWay = new Set<Promise<TransportResult>>();

  async function write(envelope: Envelope, raw: Content): Promise<TransportResult> {
    const name = makeName(new Date());
    const target = path.join(folder, name);
    try {
      await makeFolder();
      await writeWhole(`${target}.json`, Buffer.from(`${JSON.stringify(envelope, null, 2)}\n`));
      await writeWhole(`${target}.eml`, raw.kind === 'bytes' ? raw.bytes : readExactly(raw));
      await syncFolder(folder);
    } catch (error) {
      await rm(`${target}.json`, { force: true }).catch(() => {});
      const gone = error instanceof ContentChangedError;
      const detail = gone ? error.message : `writing to the outbox folder failed: ${codeOf(error)}`;
      return toRefused(envelope, { reply: null, detail }, NONE_REFUSED, 'deferred');
    }
    const reply: Reply = { code: 250, enhancedStatus: '2.0.0', text: `written to the outbox as ${name}.eml` };
    return toAccepted(envelope, reply, NONE_REFUSED, null);
  }

  async function writeWhole(file: string, source: Buffer | AsyncIterable<Buffer>): Promise<void> {
    const handle = await open(`${file}.tmp`, 'wx', 0o600);
    try {
      await writeTo(handle, source);
      await handle.datasync();
    } catch (error) {
      await rm(`${file}.tmp`, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    await rename(`${file}.tmp`, file);
  }

  async function makeFolder(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  return {
    async send(envelope, raw, beforeFirstByte) {
      const begun = beforeFirstByte?.() ?? Promise.resolve();
      const sending = begun.then(() => write(envelope, raw));
      underWay.add(sending);
      try {
        return await sending;
      } finally {
        underWay.delete(sending);
      }
    },
    verify: makeFolder,
    async close() {
      await Promise.allSettled(underWay);
    },
  };
}

/** Sorts by time, to the millisecond; the random part keeps names of the same millisecond apart. */
function makeName(now: Date): string {
  return `${now.toISOString().replace(/[-:]/g, '')}-${randomBytes(6).toString('hex')}`;
}

async function writeTo(handle: FileHandle, source: Buffer | AsyncIterable<Buffer>): Promise<void> {
  if (Buffer.isBuffer(source)) {
    await handle.writeFile(source);
    return;
  }
  for await (const chunk of source) await handle.writeFile(chunk);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Makes the new names durable, not only the bytes. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
