import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/**
 * Opens a file to read it. Throws for what is no plain file by now; a symbolic link is not followed, and a pipe can't
 * hold us up.
 */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error('is not a plain file any more');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
