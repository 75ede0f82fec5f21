/** A reader that reads where it is asked, without a process: for tests that are about other things. */
import { readFileSync } from 'node:fs';
import type { MessageReader, ReadingKind, Readings } from '../../src/app/reading/reading-ports.ts';
import { loadSafeHtml, READINGS, understand } from '../../src/app/reading/readings.ts';

export const directReader: MessageReader = {
  async read<K extends ReadingKind>(kind: K, asked: Readings[K]['asked']) {
    const value =
      kind === 'safeHtml'
        ? (await loadSafeHtml())(asked as Readings['safeHtml']['asked'])
        : give(kind as Exclude<ReadingKind, 'safeHtml'>, asked);
    return { kind: 'read', value: value as Readings[K]['given'] };
  },
};

function give(kind: Exclude<ReadingKind, 'safeHtml'>, asked: unknown): unknown {
  if (kind === 'message') {
    const { raw, context } = asked as Readings['message']['asked'];
    return understand([raw.kind === 'bytes' ? raw.bytes : readFileSync(raw.path)], context);
  }
  const reading: (asked: never) => unknown = READINGS[kind];
  return reading(asked as never);
}
