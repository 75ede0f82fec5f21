/** `email-worker verify`: reads a whole backup, or every file of the live data. */
import { createReadStream } from 'node:fs';
import { createBackupSource } from '../areas/backup/snapshot.ts';
import { createFileReferences } from '../areas/emails/file-references.ts';
import { checkFiles } from '../areas/backup/check-files.ts';
import { verifyBackup } from '../areas/backup/verify-backup.ts';
import { cleanFiles } from '../platform/files/clean-files.ts';
import { DAY_MS } from '../core/durations.ts';
import { openVault } from '../service/open-vault.ts';
import { AT_OPTION, chooseBackup, PLACE } from './choose-backup.ts';
import { defineCommand, UsageError, type CommandContext, type CommandResult } from './command.ts';
import { formatBytes, formatCount } from './api/format.ts';
import { printable } from './output.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'Checks a complete backup, or the files of the live data.',
  description:
    'With a place, reads every object of a backup and compares hashes and counts; this needs no database, only BACKUP_KEY. ' +
    'Without a place, reads every recorded file from the storage and compares its checksum, or its size where there is none, as ' +
    'for raw messages; unreferenced files, which clean-files deletes, are counted. The service may run meanwhile. The exit code ' +
    'is 1 when something differs.',
  arguments: [{ ...PLACE, required: false }],
  options: {
    ...AT_OPTION,
  },
  examples: [
    { line: 'verify /mnt/backups', meaning: 'Checks the last backup.' },
    { line: 'verify', meaning: 'Checks the file of every record.' },
  ],
  run({ at }, [place], context): Promise<CommandResult> {
    if (place !== undefined) return verifyPlace(place, at ?? null, context);
    if (at !== undefined) throw new UsageError('--at needs a place');
    return verifyLive(context);
  },
});

async function verifyPlace(
  place: string,
  at: string | null,
  { config, output, signal }: CommandContext,
): Promise<CommandResult> {
  const vault = await openVault(config, place, false);
  try {
    const id = await chooseBackup(vault, at);
    const { rows, files, faults, manifest } = await verifyBackup(vault, id, {
      signal,
      onFault: (text) => output.note(printable(text)),
    });
    const { deleted, missing } = manifest.files;
    output.print(
      `${id}: ${formatCount(rows, 'row')} and ${formatCount(files, 'file')} read, ${formatCount(faults, 'fault')}`,
    );
    if (deleted > 0) output.print(`files deleted while the backup was made: ${deleted}`);
    if (missing > 0) output.print(`files missing in the storage when the backup was made: ${missing}`);
    return faults === 0 ? 'done' : 'failed';
  } finally {
    await vault.close();
  }
}

async function verifyLive({ output, signal, open }: CommandContext): Promise<CommandResult> {
  const data = await open();
  const references = createFileReferences(data.pool);
  const { files, bytes, faults } = await checkFiles(
    {
      source: createBackupSource(data.openUnlimited),
      blobs: data.blobs,
      references,
      spool: data.spool,
      openFile: (file) => createReadStream(file),
    },
    { signal, onFault: (path, fault) => output.print(printable(`${path} ${fault}`)) },
  );
  if (signal.aborted) return 'failed';
  const left = await cleanFiles(
    { blobs: data.blobs, references, clock: data.clock, requireTime: data.guard.require },
    {
      olderThanMs: DAY_MS,
      keep: new Set([...(data.journal?.keys() ?? [])].map(({ emailId }) => emailId)),
      dryRun: true,
      signal,
      onFile: () => undefined,
    },
  );
  output.print(
    `${formatCount(files, 'file')} (${formatBytes(bytes)}) read, ${formatCount(faults, 'fault')}; ${formatCount(left.unreferenced, 'file')} that no record names (clean-files)`,
  );
  return faults === 0 ? 'done' : 'failed';
}
