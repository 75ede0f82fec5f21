import { expect, it } from 'vitest';
import { formatFileLine, type FileLine } from '../../core/backup/file-entry.ts';
import { ServiceError } from '../../core/errors.ts';
import { BackupError, type Manifest } from '../../core/backup/manifest.ts';
import { verifyBackup } from './verify-backup.ts';

const HASH = '0'.repeat(64);
const line = (path: string): FileLine => ({ path, sizeBytes: 1, sha256: HASH });

/** A backup of two files, the second of which is named in the second piece of the list. @param failureOf null: it is read */
function verify(failureOf: (path: string) => Error | null) {
  const stored = { pieces: 2, sizeBytes: 1, sha256: HASH };
  const manifest: Manifest = {
    format: 1,
    takenAt: '2026-01-31T12:00:00.000Z',
    endedAt: '2026-01-31T12:00:00.000Z',
    serviceVersion: '1.0.0',
    databaseId: HASH,
    postgres: '17',
    migrations: [],
    schemaDigest: HASH,
    eventPosition: '0',
    tables: [],
    sequences: [],
    files: { ...stored, count: 2, contentBytes: 2, deleted: 0, missing: 0 },
  };
  const faults: string[] = [];
  const result = verifyBackup(
    {
      readManifest: async () => manifest,
      async *readStream() {
        yield Buffer.from(formatFileLine(line('a/1/file')));
        // The first file is read meanwhile.
        await new Promise(setImmediate);
        yield Buffer.from(formatFileLine(line('a/2/file')));
      },
      async *readFile({ path }) {
        const failure = failureOf(path);
        if (failure !== null) throw failure;
        yield Buffer.from('x');
      },
    },
    'id',
    { signal: new AbortController().signal, onFault: (text) => faults.push(text) },
  );
  return result.then((counts) => ({ ...counts, told: faults }));
}

it('throws when the storage fails while the list is read on', async () => {
  const away = new ServiceError('storage_unavailable');
  await expect(verify((path) => (path === 'a/1/file' ? away : null))).rejects.toBe(away);
});

it('tells of each file that is not what was written, and reads on', async () => {
  const found = await verify((path) => new BackupError(`a piece of the file ${path} is missing`));
  expect(found).toMatchObject({
    files: 2,
    faults: 2,
    told: ['a piece of the file a/1/file is missing', 'a piece of the file a/2/file is missing'],
  });
});
