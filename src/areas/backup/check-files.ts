/** Reads every file that a record names: it must exist and match its record. */
import { createHash } from 'node:crypto';
import type { FileRecord } from '../../core/backup/file-entry.ts';
import { eachAtOnce } from '../../platform/base/each-at-once.ts';
import type { FileReferences } from '../../platform/files/clean-files.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import type { BackupSource } from './backup-ports.ts';
import { readRecords, spoolRecords, type SpoolRecordsPorts } from './spool-records.ts';
import { FILES_AT_ONCE } from './vault.ts';

export interface CheckFilesPorts extends SpoolRecordsPorts {
  readonly source: Pick<BackupSource, 'withSnapshot'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly references: FileReferences;
}

export interface CheckFilesOptions {
  readonly signal: AbortSignal;
  readonly onFault: (path: string, fault: string) => void;
}

/** Returns how many files there are, and how many of them are faulty. */
export async function checkFiles(
  ports: CheckFilesPorts,
  { signal, onFault }: CheckFilesOptions,
): Promise<{ readonly files: number; readonly bytes: number; readonly faults: number }> {
  const result = { files: 0, bytes: 0, faults: 0 };
  const folder = ports.spool.create();
  try {
    const list = await ports.source.withSnapshot((snapshot) => spoolRecords(folder, snapshot.readFiles()));
    await eachAtOnce(
      readRecords(ports, list),
      FILES_AT_ONCE,
      async (file) => {
        const fault = await findFault(ports, file);
        result.files += 1;
        result.bytes += file.sizeBytes;
        if (fault === null) return;
        result.faults += 1;
        onFault(file.path, fault);
      },
      signal,
    );
    return result;
  } finally {
    await folder.remove();
  }
}

/** null: no fault, or its record was deleted meanwhile. */
async function findFault(
  { blobs, references }: CheckFilesPorts,
  { path, sizeBytes, sha256 }: FileRecord,
): Promise<string | null> {
  const stream = await blobs.get(path);
  const hash = createHash('sha256');
  let found = 0;
  if (stream !== null) {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      found += chunk.length;
    }
  }
  let fault: string | null = null;
  if (stream === null) fault = 'is missing';
  else if (found !== sizeBytes) fault = `has ${found} bytes, and not ${sizeBytes}`;
  else if (sha256 !== null && hash.digest('hex') !== sha256) fault = 'has another content than was recorded';
  if (fault === null) return null;
  return (await references.findReferenced([{ path, emailId: '' }])).has(path) ? fault : null;
}
