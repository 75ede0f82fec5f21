/** Small file-system steps that the files of this folder share. */
import { chown, lstat, open, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** True for a failed system call with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** True if anything exists at the path; a dangling link counts. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** The text of a file; null when there is none. */
export async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/** Writes the names in a folder to the disk, so that a rename or a new file survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Gives a folder and all its contents to another user. The folder itself comes last: if this is cut short, the next start does it again.
 */
export async function chownTree(folder: string, uid: number, gid: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await chownTree(path, uid, gid);
    else if (!entry.isSymbolicLink()) await chown(path, uid, gid);
  }
  await chown(folder, uid, gid);
}
