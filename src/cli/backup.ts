/** `email-worker backup`: writes a backup of everything into a folder or a bucket. */
import { createReadStream } from 'node:fs';
import { createBackupSource } from '../areas/backup/snapshot.ts';
import { createFileReferences } from '../areas/emails/file-references.ts';
import { makeBackup } from '../areas/backup/make-backup.ts';
import { readVersion } from '../config/version.ts';
import { openVault } from '../service/open-vault.ts';
import { settleLeftSends } from '../service/settle-left-sends.ts';
import { defineCommand, UsageError, type CommandContext, type CommandResult } from './command.ts';
import { formatBytes, formatCount } from './api/format.ts';
import { printable } from './output.ts';

const MAX_KEEP = 10_000;

export const backupCommand = defineCommand({
  name: 'backup',
  summary: 'Writes a backup of the database and the files into a folder or a bucket.',
  description:
    'The service may run meanwhile. The backup contains what was committed at one moment; files that an earlier backup has are ' +
    'not copied again. With BACKUP_KEY everything is encrypted. The manifest is written last: an interrupted backup has none ' +
    'and does not count, and the next backup reuses its files.\n\n' +
    'A place belongs to one database. The configuration and the rest of DATA_DIR, such as `api-secret` and `secrets-key`, are not in a backup: ' +
    'keep them elsewhere, and BACKUP_KEY apart from the backups.',
  arguments: [
    {
      name: 'place',
      meaning: 'A folder, or `s3://bucket/prefix?endpoint=https://…` with the AWS_… variables of BLOB_URL.',
      required: false,
      repeated: false,
      completes: 'files',
    },
  ],
  options: {
    keep: {
      type: 'string',
      value: 'number',
      meaning: 'Keeps this number of backups, including this one, and deletes older ones and their files.',
    },
    list: { type: 'boolean', meaning: 'Only lists the backups in the place.' },
    'new-key': { type: 'boolean', meaning: 'Only prints a new key, as a file for BACKUP_KEY_FILE.' },
  },
  examples: [
    { line: 'backup /mnt/backups --keep 30', meaning: 'Makes a backup and keeps the last 30.' },
    { line: 'backup --new-key >backup.key', meaning: 'Makes a key for BACKUP_KEY_FILE.' },
  ],
  async run({ keep, list = false, 'new-key': newKey = false }, [place], context): Promise<CommandResult> {
    if (newKey) return await printKey(context);
    if (place === undefined) throw new UsageError('<place> is missing');
    if (list) return await printList(place, context);
    const kept = keep === undefined ? null : Number(/^\d{1,5}$/.test(keep) ? keep : 0);
    if (kept !== null && (kept < 1 || kept > MAX_KEEP))
      throw new UsageError(`--keep must be a whole number from 1 to ${MAX_KEEP}`);
    return await run(place, kept, context);
  },
});

async function printKey({ output }: CommandContext): Promise<CommandResult> {
  const { makeKeyFile } = await import('../connectors/age/age-cipher.ts');
  output.print((await makeKeyFile(new Date())).trimEnd());
  return 'done';
}

async function printList(place: string, { config, output }: CommandContext): Promise<CommandResult> {
  const vault = await openVault(config, place, false);
  try {
    for (const { id, isWhole } of await vault.list()) output.print(`${id} ${isWhole ? 'whole' : 'cut off'}`);
  } finally {
    await vault.close();
  }
  return 'done';
}

async function run(place: string, keep: number | null, context: CommandContext): Promise<CommandResult> {
  const { config, output, logger, signal } = context;
  const data = await context.open();
  const left = await settleLeftSends(config, data, logger);
  if (left > 0)
    output.note(`sends in the journal that could not be stored and are not in the backup: ${left}`);
  const vault = await openVault(config, place, true);
  try {
    const { id, manifest, copied, removedBackups, removedFiles } = await makeBackup(
      {
        source: createBackupSource(data.openUnlimited),
        references: createFileReferences(data.pool),
        vault,
        blobs: data.blobs,
        spool: data.spool,
        openFile: (file) => createReadStream(file),
        clock: data.clock,
      },
      {
        serviceVersion: readVersion(),
        keep,
        signal,
        onMissing: (path) => output.note(printable(`missing in the storage and in the backup: ${path}`)),
        onStep: (text) => logger.info({}, text),
      },
    );
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    output.print(
      `${id}: ${formatCount(rows, 'row')}, ${formatCount(manifest.files.count, 'file')} ` +
        `(${formatBytes(manifest.files.contentBytes)}), ${copied.copied} of them new (${formatBytes(copied.copiedBytes)})`,
    );
    if (removedBackups > 0)
      output.print(
        `${formatCount(removedBackups, 'old backup')} and ${formatCount(removedFiles, 'file')} deleted`,
      );
    return manifest.files.missing === 0 ? 'done' : 'failed';
  } finally {
    await vault.close();
  }
}
