/** The program of a reading process. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Content } from '../../app/files/file-ports.ts';
import type { Readings } from '../../app/reading/reading-ports.ts';
import { LATE_READINGS, READINGS, understand } from '../../app/reading/readings.ts';
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

/** Those that were loaded, by their kind. */
const late = new Map<Question['kind'], (asked: never) => unknown>();

async function prepare({ kind }: Question): Promise<void> {
  if (!late.has(kind) && kind in LATE_READINGS) {
    late.set(kind, await LATE_READINGS[kind as keyof typeof LATE_READINGS]());
  }
}

serveReadings(({ kind, asked }: Question) => {
  if (kind !== 'message') {
    const reading = late.get(kind) ?? READINGS[kind as keyof typeof READINGS];
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
