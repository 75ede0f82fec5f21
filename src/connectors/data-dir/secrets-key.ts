/** The key in DATA_DIR that seals the secrets of accounts where the configuration gives none. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from './create-file.ts';

const KEY_BYTES = 32;

/** Base64url. */
export const newSecretsKey = (): string => randomBytes(KEY_BYTES).toString('base64url');

export const secretsKeyFile = (dataDir: string): string => join(dataDir, 'secrets-key');

/** The keys of `<DATA_DIR>/secrets-key`, separated by commas, the newest first; none when there is no such file. */
export async function readSecretsKeys(dataDir: string): Promise<readonly string[]> {
  try {
    const text = await readFile(secretsKeyFile(dataDir), 'utf8');
    return text
      .split(',')
      .map((key) => key.trim())
      .filter((key) => key !== '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Replaces the file. The caller holds the lock of DATA_DIR, or is the only one to change the keys. */
export async function writeSecretsKeys(dataDir: string, keys: readonly string[]): Promise<void> {
  await createFile(secretsKeyFile(dataDir), `${keys.join(',')}\n`);
}
