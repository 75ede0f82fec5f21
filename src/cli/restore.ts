/** `email-worker restore`: restores a backup into an empty database. */
import { createRestoreTarget } from '../adapters/postgres/backup/restore-target.ts';
import { MIGRATION_NAMES } from '../adapters/postgres/db/migrate.ts';
import { restoreBackup } from '../app/backup/restore-backup.ts';
import { readVersion } from '../config/version.ts';
import { openTarget, type OpenTarget } from '../service/open-target.ts';
import { openVault } from '../service/open-vault.ts';
import type { Vault } from '../app/backup/vault.ts';
import { formatCount } from './api/format.ts';
import { AT_OPTION, chooseBackup, PLACE } from './choose-backup.ts';
import { recordAfterwards } from './command-record.ts';
import { defineCommand, type CommandContext, type CommandResult } from './command.ts';

export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restores a backup into the database and the storage that are configured.',
  description:
    'No service may run, on any machine. Every hash is checked; the database is filled in one transaction, after the files are there, so that a ' +
    'restore that is cut off changes nothing but files, and no service starts on it before it is repeated. The version of email-worker must be the ' +
    'one that made the backup.\n\n' +
    'What waited to be sent, or was being sent, becomes `unknown`, because it may have been sent after the backup: it settles when its copy ' +
    'is found in the Sent mailbox, or an operator decides. Sessions of browsers end. Readers of events that have seen what is undone get ' +
    '`events_expired`; all others go on.',
  arguments: [PLACE],
  options: {
    ...AT_OPTION,
    replace: {
      type: 'boolean',
      meaning: 'Also when the database holds emails: these are gone then. Their files stay; see clean-files.',
    },
    'send-waiting': {
      type: 'boolean',
      meaning:
        'What waited to be sent is sent. Only when nothing was sent after the backup, such as when the service was stopped before.',
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
    output.print(
      `files that records name but that were not in the backup: ${deleted + missing}; see email-worker verify`,
    );
  if (heldSends > 0)
    output.print(`sends that are unknown now, since they may have been sent after the backup: ${heldSends}`);
  if (closedKeys > 0)
    output.print(
      `requests with an Idempotency-Key that were under way, and whose repeat sends nothing: ${closedKeys}`,
    );
  return 'done';
}
