/** Reads every file that a record names: it has to be there, and to be what was recorded. */
import { createHash } from 'node:crypto';
import type { FileRecord } from '../../core/backup/file-entry.ts';
import type { FileReferences } from '../files/clean-files.ts';
import type { BlobStore } from '../files/file-ports.ts';
import type { BackupSource } from './backup-ports.ts';
import { readRecords, spoolRecords, type SpoolRecordsPorts } from './spool-records.ts';

export interface CheckFilesPorts extends SpoolRecordsPorts {
  readonly source: Pick<BackupSource, 'withSnapshot'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly references: FileReferences;
}

export interface CheckFilesOptions {
  readonly signal: AbortSignal;
  readonly onFault: (path: string, fault: string) => void;
}

const FILES_AT_ONCE = 4;

/** Returns how many files there are, and how many of them are at fault. */
export async function checkFiles(
  ports: CheckFilesPorts,
  { signal, onFault }: CheckFilesOptions,
): Promise<{ readonly files: number; readonly bytes: number; readonly faults: number }> {
  const result = { files: 0, bytes: 0, faults: 0 };
  const folder = ports.spool.create();
  try {
    const list = await ports.source.withSnapshot((snapshot) => spoolRecords(folder, snapshot.readFiles()));
    const failures: unknown[] = [];
    const underWay = new Set<Promise<void>>();
    for await (const file of readRecords(ports, list)) {
      if (signal.aborted || failures.length > 0) break;
      const check = findFault(ports, file)
        .then(
          (fault) => {
            result.files += 1;
            result.bytes += file.sizeBytes;
            if (fault === null) return;
            result.faults += 1;
            onFault(file.path, fault);
          },
          (error: unknown) => void failures.push(error),
        )
        .finally(() => underWay.delete(check));
      underWay.add(check);
      if (underWay.size >= FILES_AT_ONCE) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    if (failures.length > 0) throw failures[0];
    return result;
  } finally {
    await folder.remove();
  }
}

/** null: none, or its record was deleted meanwhile. */
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
