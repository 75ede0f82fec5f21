/** `email-worker adopt-storage`: makes the configured storage of files that of the database. */
import { createStorageRecord } from '../adapters/postgres/files/storage-record.ts';
import { adoptStorage } from '../app/files/own-storage.ts';
import { defineCommand } from './command.ts';

export const adoptStorageCommand = defineCommand({
  name: 'adopt-storage',
  summary: 'Makes the configured storage of files the one of the database.',
  description:
    'The database and its storage of files, DATA_DIR/files or the bucket of BLOB_URL, carry the same identity. A process that reaches another ' +
    'storage is not ready and leaves files alone. This command gives both a new identity, for a storage that was lost, or replaced by one ' +
    'without the identity. A storage that was copied as a whole needs it not: the copy has the identity.\n\n' +
    'Files that are not in the storage are missing from then on: see verify. Another database that had the storage loses it. The service may ' +
    'run meanwhile.',
  arguments: [],
  options: {},
  examples: [{ line: 'adopt-storage', meaning: 'After the bucket was replaced by an empty one.' }],
  async run(_options, _positionals, { output, open }) {
    const { pool, blobs, ids } = await open();
    const { id, database } = await adoptStorage({ blobs, record: createStorageRecord(pool), ids });
    output.print(`the storage ${id} is the one of the database ${database}`);
    return 'done';
  },
});
