import type { Content, SpoolFolder } from './file-ports.ts';

/**
 * Reads a message as it arrives: into memory up to `maxInlineBytes`, otherwise into a spool file. Throws the errors of
 * `body` and of the spool.
 */
export async function readRaw(
  body: AsyncIterator<Buffer>,
  maxInlineBytes: number,
  folder: SpoolFolder,
): Promise<Content> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for (;;) {
    const next = await body.next();
    if (next.done === true) return { kind: 'bytes', bytes: Buffer.concat(pieces) };
    pieces.push(next.value);
    sizeBytes += next.value.length;
    if (sizeBytes > maxInlineBytes) return await folder.write(joined(pieces, body));
  }
}

async function* joined(pieces: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* pieces;
  yield* { [Symbol.asyncIterator]: () => rest };
}
