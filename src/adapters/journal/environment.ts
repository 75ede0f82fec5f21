/** Opens LMDB environments in the one way that this folder relies on. */
import { mkdir, open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';

/** Values stay `unknown`: they may come from another version of this program. Keys are the bytes of a UUID. */
export type Environment = RootDatabase<unknown, Buffer>;
export type Table = Database<unknown, Buffer>;

/** LMDB's table of readers, for its default of 126, with room to spare. */
const LOCK_FILE_BYTES = 16 * 1024;

/**
 * Opens or makes an environment in a folder of its own; nobody else may have it open.
 * - Overlapping sync is off: with it a write's promise may resolve before the data is safe.
 * - Batching by event turns is off: it makes a promise of its own that nobody can look at, whose rejection on a full
 *   disk would end the process.
 * - The lock file, which LMDB maps and never writes, is filled beforehand: on a full disk the first touch of a page
 *   that has no block kills the process with SIGBUS.
 */
export async function openEnvironment(
  folder: string,
  options: { readonly noSync?: boolean } = {},
): Promise<Environment> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = await openFile(join(folder, 'lock.mdb'), 'w', 0o600);
  try {
    await lock.writeFile(Buffer.alloc(LOCK_FILE_BYTES));
    await lock.sync();
  } finally {
    await lock.close();
  }
  return open<unknown, Buffer>(folder, {
    noSubdir: false,
    keyEncoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    noSync: options.noSync ?? false,
  });
}

export function openTable(env: Environment, name: string): Table {
  return env.openDB<unknown, Buffer>({ name, keyEncoding: 'binary' });
}
