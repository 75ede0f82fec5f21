/** Makes a small file of DATA_DIR so that it is there whole, readable by its owner only, or not at all. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The caller holds the lock of DATA_DIR. On the disk when this returns: what depends on it may be used at once. */
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
  // It must not be another one after a power cut.
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
