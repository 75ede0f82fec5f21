/** The program that runs in a reading process. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { compileLate } from '../../platform/base/late-compiling.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Readings } from '../../platform/reading/reading-ports.ts';
import { LATE_READINGS, READINGS, understand } from '../../platform/reading/readings.ts';
import type { Question } from './protocol.ts';
import { serveReadings } from './serve-readings.ts';

/** Read from a file at a time, in bytes. */
const CHUNK_BYTES = 256 * 1024;

// See create-reader.ts.
setPriority(Number(process.argv[2]));

compileLate();

/** The readings that were loaded, by their kind. */
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
