/** Identifies a DATA_DIR among the instances that share a database: each marks its own rows with this id. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from './create-file.ts';
import { DataDirError } from './data-dir-lock.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads `<DATA_DIR>/instance-id`, a lower-case UUID, or creates it. The caller holds the lock of DATA_DIR. Throws `DataDirError` when the
 * file contains something else.
 */
export async function loadOrCreateInstanceId(dataDir: string): Promise<string> {
  const path = join(dataDir, 'instance-id');
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    text = randomUUID();
    await createFile(path, `${text}\n`);
  }
  if (UUID.test(text)) return text;
  throw new DataDirError(
    'data_dir_unusable',
    `${path} is damaged. Restore it, or delete it: requests with an Idempotency-Key that were interrupted then stay in progress until the key expires.`,
  );
}
