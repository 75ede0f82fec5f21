/** Creates a small file of DATA_DIR, readable by its owner only: the file appears whole or not at all. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The caller holds the lock of DATA_DIR. The file is on the disk when this returns: callers may rely on it at once. */
export async function createFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
  // The file must not be a different one after a power cut.
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
