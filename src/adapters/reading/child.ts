/** The program of a reading process. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Content } from '../../app/files/file-ports.ts';
import type { Readings } from '../../app/reading/reading-ports.ts';
import { loadSafeHtml, READINGS, understand } from '../../app/reading/readings.ts';
import type { Question } from './protocol.ts';
import { serveReadings } from './serve-readings.ts';

/** Of a file, in bytes. */
const CHUNK_BYTES = 256 * 1024;

/** What strangers make slow gives way to the service and its database, which answer requests. About a third of their share. */
const NICENESS = 5;
setPriority(NICENESS);

/**
 * How long code runs before the engine makes it fast, about four times as long as by itself: a process often ends after some hundred
 * mails, and these cost a third less so. From some thousand on it makes no difference.
 */
setFlagsFromString('--interrupt-budget=500000');

let readSafeHtml: Awaited<ReturnType<typeof loadSafeHtml>> | null = null;

async function prepare({ kind }: Question): Promise<void> {
  if (kind === 'safeHtml') readSafeHtml ??= await loadSafeHtml();
}

serveReadings(({ kind, asked }: Question) => {
  if (kind === 'safeHtml') return readSafeHtml?.(asked as Readings['safeHtml']['asked']);
  if (kind !== 'message') {
    const reading: (asked: never) => unknown = READINGS[kind];
    return reading(asked as never);
  }
  const { raw, context } = asked as Readings['message']['asked'];
  return understand(chunksOf(raw), context);
}, prepare);

function* chunksOf(raw: Content): Generator<Buffer> {
  if (raw.kind === 'bytes') {
    yield raw.bytes;
    return;
  }
  const file = openSync(raw.path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}
