/** A message reader that works in the calling process, without a child process: for tests that are about other things. */
import { readFileSync } from 'node:fs';
import type { MessageReader, ReadingKind, Readings } from '../../src/platform/reading/reading-ports.ts';
import { LATE_READINGS, READINGS, understand } from '../../src/platform/reading/readings.ts';

export const directReader: MessageReader = {
  async read<K extends ReadingKind>(kind: K, asked: Readings[K]['asked']) {
    return { kind: 'read', value: (await give(kind, asked)) as Readings[K]['given'] };
  },
};

async function give(kind: ReadingKind, asked: unknown): Promise<unknown> {
  if (kind === 'message') {
    const { raw, context } = asked as Readings['message']['asked'];
    return understand([raw.kind === 'bytes' ? raw.bytes : readFileSync(raw.path)], context);
  }
  const reading: (asked: never) => unknown = isLate(kind) ? await LATE_READINGS[kind]() : READINGS[kind];
  return reading(asked as never);
}

const isLate = (kind: ReadingKind): kind is keyof typeof LATE_READINGS => kind in LATE_READINGS;
