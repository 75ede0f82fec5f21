/** The API secret that the service generates when the configuration gives none. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from './create-file.ts';
import { DataDirError } from './data-dir-lock.ts';

export interface FileSecret {
  /** Never empty; base64url if it was generated here. */
  readonly secret: string;
  /** The file that contains it. */
  readonly path: string;
}

/** 256 bits can't be guessed at any rate of trying. */
const SECRET_BYTES = 32;

/**
 * Reads `<DATA_DIR>/api-secret`, or creates it, readable by its owner only. The caller holds the lock of DATA_DIR. Throws `DataDirError`
 * when the file exists but is empty.
 */
export async function loadOrCreateSecret(dataDir: string): Promise<FileSecret> {
  const path = join(dataDir, 'api-secret');
  try {
    const secret = (await readFile(path, 'utf8')).trim();
    if (secret !== '') return { secret, path };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return await createSecret(path);
    throw error;
  }
  throw new DataDirError(
    'data_dir_unusable',
    `${path} is empty. Put a secret into it, or delete it to get a new one.`,
  );
}

async function createSecret(path: string): Promise<FileSecret> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  // A caller may store the secret at once.
  await createFile(path, `${secret}\n`);
  return { secret, path };
}
