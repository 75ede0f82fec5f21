/** Opens LMDB environments with the settings that this folder relies on. */
import { randomBytes } from 'node:crypto';
import { access, mkdir, open as openFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';

/** Values stay `unknown`: they may come from another version of this program. Keys are the bytes of a UUID. */
export type Environment = RootDatabase<unknown, Buffer>;
export type Table = Database<unknown, Buffer>;

/** The disk space that a new environment needs, with room to spare. */
const NEW_ENVIRONMENT_BYTES = 1024 * 1024;
/** The size of LMDB's reader table for its default of 126 readers, with room to spare. */
const LOCK_FILE_BYTES = 16 * 1024;

/**
 * Opens or creates an environment in a folder of its own; no other process may have it open.
 * - Overlapping sync is off: with it a write's promise may resolve before the data is safe.
 * - Batching by event turns is off: it creates a promise that no caller can reach, whose rejection on a full
 *   disk would end the process.
 * - The lock file, which LMDB maps and never writes, is filled beforehand: on a full disk the first touch of a page
 *   that has no block kills the process with SIGBUS.
 * - A new environment is created only when there is room for it, for the reason in room.ts.
 * Throws the errors of the file system and LMDB.
 */
export async function openEnvironment(
  folder: string,
  options: { readonly noSync?: boolean } = {},
): Promise<Environment> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(join(folder, 'lock.mdb'), Buffer.alloc(LOCK_FILE_BYTES));
  if (!(await exists(join(folder, 'data.mdb')))) {
    const probe = join(folder, 'probe');
    try {
      await writeDurably(probe, randomBytes(NEW_ENVIRONMENT_BYTES));
    } finally {
      await rm(probe, { force: true });
    }
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

/** Encodes a value with the table's own encoder, so that its size is known before it is put. */
export function encodeValue(table: Table, value: unknown): Buffer {
  // lmdb-js does not declare the encoder, but documents its use (README, "Serialization options").
  const { encoder } = table as unknown as { readonly encoder: { encode(value: unknown): Buffer } };
  return encoder.encode(value);
}

export async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const file = await openFile(path, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
