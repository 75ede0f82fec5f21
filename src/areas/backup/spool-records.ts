/** The list of files that the database names, kept on disk between the end of a snapshot and the work on the files. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { FileRecord } from '../../core/backup/file-entry.ts';
import type { Spool, SpoolFile, SpoolFolder } from '../../platform/files/file-ports.ts';

export interface SpoolRecordsPorts {
  readonly spool: Spool;
  readonly openFile: (path: string) => Readable;
}

export const spoolRecords = (folder: SpoolFolder, records: AsyncIterable<FileRecord>): Promise<SpoolFile> =>
  folder.write(toLines(records));

async function* toLines(records: AsyncIterable<FileRecord>): AsyncGenerator<Buffer> {
  for await (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

export async function* readRecords(
  { openFile }: Pick<SpoolRecordsPorts, 'openFile'>,
  file: SpoolFile,
): AsyncGenerator<FileRecord> {
  for await (const line of createInterface({ input: openFile(file.path), crlfDelay: Infinity })) {
    // We wrote this line a moment ago
    yield JSON.parse(line) as FileRecord;
  }
}
