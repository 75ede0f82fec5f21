import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Opens a file for reading. Throws if it is no longer a plain file; a symbolic link is not followed, and a pipe can't block us. */
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
