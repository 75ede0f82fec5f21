/** `email-worker adopt-storage`: makes the configured storage of files that of the database. */
import { createStorageRecord } from '../platform/files/storage-record.ts';
import { adoptStorage } from '../platform/files/own-storage.ts';
import { defineCommand } from './command.ts';

export const adoptStorageCommand = defineCommand({
  name: 'adopt-storage',
  summary: 'Assigns the configured file storage to the database.',
  description:
    'The database and its file storage, DATA_DIR/files or the bucket of BLOB_URL, have a common identity. A process with ' +
    'another storage is not ready and uses no files. This command gives both a new identity, after a storage was lost or ' +
    'replaced by one without the identity. A complete copy of a storage has the identity and does not need it.\n\n' +
    'Files that are not in the storage are then missing: see verify. Another database that had the storage loses it. The ' +
    'service may run meanwhile.',
  arguments: [],
  options: {},
  examples: [{ line: 'adopt-storage', meaning: 'After the bucket was replaced by an empty one.' }],
  async run(_options, _positionals, { output, open }) {
    const { pool, blobs, ids } = await open();
    const { id, database } = await adoptStorage({ blobs, record: createStorageRecord(pool), ids });
    output.print(`the storage ${id} now belongs to the database ${database}`);
    return 'done';
  },
});
