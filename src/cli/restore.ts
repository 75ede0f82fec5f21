/** `email-worker restore`: restores a backup into an empty database. */
import { createRestoreTarget } from '../areas/backup/restore-target.ts';
import { MIGRATION_NAMES } from '../platform/db/migrate.ts';
import { restoreBackup } from '../areas/backup/restore-backup.ts';
import { readVersion } from '../config/version.ts';
import { openTarget, type OpenTarget } from '../service/open-target.ts';
import { openVault } from '../service/open-vault.ts';
import type { Vault } from '../areas/backup/vault.ts';
import { formatCount } from './api/format.ts';
import { AT_OPTION, chooseBackup, PLACE } from './choose-backup.ts';
import { recordAfterwards } from './command-record.ts';
import { defineCommand, type CommandContext, type CommandResult } from './command.ts';

export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restores a backup into the configured database and storage.',
  description:
    'Stop all services on all machines first. Every hash is checked; one transaction fills the database after the files are ' +
    'stored. An interrupted restore changes only files, and no service starts on the database until the restore is repeated. ' +
    'Use the version of email-worker that made the backup.\n\n' +
    'Sends that waited or were in progress become `unknown`, because they may have been sent after the backup: a copy in the ' +
    'Sent mailbox or an operator settles them. Browser sessions end. Readers of events that are past the backup get ' +
    '`events_expired`; all others continue.',
  arguments: [PLACE],
  options: {
    ...AT_OPTION,
    replace: {
      type: 'boolean',
      meaning: 'Replaces a database that contains emails, which are lost. Their files stay; see clean-files.',
    },
    'send-waiting': {
      type: 'boolean',
      meaning:
        'Keeps waiting sends in the queue. Use it only when nothing was sent after the backup, for example after a stop.',
    },
  },
  examples: [{ line: 'restore /mnt/backups', meaning: 'Restores the last backup into an empty database.' }],
  async run({ at, replace = false, 'send-waiting': sendWaiting = false }, [place = ''], context) {
    const { config, logger } = context;
    const vault = await openVault(config, place, false);
    try {
      const id = await chooseBackup(vault, at ?? null);
      const target = await openTarget(config, logger);
      try {
        return await restore(vault, id, target, { replace, sendWaiting }, context);
      } finally {
        await target.close();
      }
    } finally {
      await vault.close();
    }
  },
});

async function restore(
  vault: Vault,
  id: string,
  target: OpenTarget,
  { replace, sendWaiting }: { readonly replace: boolean; readonly sendWaiting: boolean },
  { config, logger, output, signal }: CommandContext,
): Promise<CommandResult> {
  const { manifest, rows, storedFiles, heldSends, closedKeys } = await restoreBackup(
    {
      vault,
      target: createRestoreTarget(target.openUnlimited),
      blobs: target.blobs,
      spool: target.spool,
    },
    {
      id,
      migrations: MIGRATION_NAMES,
      serviceVersion: readVersion(),
      replace,
      policy: sendWaiting ? 'send' : 'hold',
      signal,
      onStep: (text) => logger.info({}, text),
    },
  );
  // The restored audit log ends with the backup.
  await recordAfterwards(() => target.openUnlimited(signal), ['restore', id.toLowerCase()], config, logger);
  output.print(
    `${id}: ${formatCount(rows, 'row')} and ${storedFiles} of ${formatCount(manifest.files.count, 'file')} restored`,
  );
  const { deleted, missing } = manifest.files;
  if (deleted + missing > 0)
    output.print(`recorded files that were not in the backup: ${deleted + missing}; see email-worker verify`);
  if (heldSends > 0)
    output.print(
      `sends that are now unknown, because they may have been sent after the backup: ${heldSends}`,
    );
  if (closedKeys > 0)
    output.print(`interrupted requests with an Idempotency-Key, whose repeat sends nothing: ${closedKeys}`);
  return 'done';
}
