/** `MailFiles` on the file system. Nothing is written or locked: no program should deliver into the files during an import. */
import { createHash } from 'node:crypto';
import type { MailFile, MailFiles } from '../../areas/import/import-ports.ts';
import { isSeparatorStart } from '../../core/mbox/split-mbox.ts';
import { listMailFiles } from './list-files.ts';
import { openRegular } from './open-regular.ts';

const CHUNK_BYTES = 256 * 1024;
/** Bytes before a position, enough to recognise it: no two emails end alike, headers and bodies included. */
const DIGEST_BYTES = 4096;
/** As many bytes as show whether a message begins. */
const BEGIN_BYTES = 5;

export function createMailFiles(): MailFiles {
  return { list: listMailFiles, read, digestBefore };
}

/** Up to the file's size when it was listed: bytes appended meanwhile are for the next import. */
async function* read({ path, sizeBytes }: MailFile, offset = 0): AsyncGenerator<Buffer> {
  const handle = await openRegular(path);
  try {
    let position = offset;
    while (position < sizeBytes) {
      const length = Math.min(CHUNK_BYTES, sizeBytes - position);
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error('the file became shorter while it was read');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function digestBefore({ path }: MailFile, position: number): Promise<string | null> {
  const handle = await openRegular(path);
  try {
    const begin = Math.max(0, position - DIGEST_BYTES);
    const wanted = position - begin + BEGIN_BYTES;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, begin);
    const after = buffer.subarray(position - begin, bytesRead);
    if (bytesRead < position - begin || (after.length > 0 && !isSeparatorStart(after))) return null;
    return createHash('sha256')
      .update(buffer.subarray(0, position - begin))
      .digest('hex');
  } finally {
    await handle.close();
  }
}
