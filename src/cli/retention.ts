/** `email-worker retention`: deletes threads whose retention has ended, as the service does by itself. */
import { createFileReferences } from '../areas/emails/file-references.ts';
import { createDeletedFiles } from '../areas/erase/deletion-store.ts';
import { createRetentionStore } from '../areas/erase/retention-store.ts';
import { deleteDeletedFiles } from '../areas/erase/delete-deleted-files.ts';
import { countDue, deleteQuietThreads, emailsOf } from '../areas/erase/retain.ts';
import { retentionRules } from '../config/config-accounts.ts';
import { formatCount } from './api/format.ts';
import { defineCommand, UsageError } from './command.ts';

export const retentionCommand = defineCommand({
  name: 'retention',
  summary: 'Deletes threads that are due by RETENTION_DAYS or the accounts file.',
  description:
    'The service deletes them every hour. Use this command to preview a rule, or for a large backlog: only a small share of all ' +
    'emails is deleted in an hour, unless you confirm more. The service may run meanwhile.',
  arguments: [],
  options: {
    'dry-run': { type: 'boolean', meaning: 'Only counts what would be deleted.' },
    confirm: {
      type: 'string',
      value: 'emails',
      meaning: 'Deletes up to this number of emails at once, beyond the hourly limit.',
    },
  },
  examples: [
    { line: 'retention --dry-run', meaning: 'Counts what would be deleted.' },
    { line: 'retention --confirm 5000', meaning: 'Deletes due threads of up to 5,000 emails.' },
  ],
  async run({ 'dry-run': dryRun = false, confirm }, _positionals, { output, logger, signal, open }) {
    if (confirm !== undefined && !/^[1-9]\d{0,9}$/.test(confirm))
      throw new UsageError('--confirm must be a number of emails, at least 1');
    const { pool, blobs, requireCertainty, registry } = await open();
    const rules = () => retentionRules(registry.settings);
    if (rules().length === 0) {
      output.note('all accounts keep all emails: RETENTION_DAYS is not set');
      return 'done';
    }
    const retention = createRetentionStore(pool);
    const due = await countDue({ retention, rules });
    for (const { accountId, days, threads, emails } of due) {
      output.print(
        `${accountId}: ${formatCount(threads, 'thread')} with ${formatCount(emails, 'email')} in which nothing happened for ${formatCount(days, 'day')}`,
      );
    }
    const { bound, deleted } = await retention.readHour();
    output.print(`in an hour ${formatCount(bound, 'email')} may be deleted; ${deleted} of this hour were`);
    if (dryRun) return 'done';
    await requireCertainty();
    if (confirm !== undefined) await retention.confirm(Number(confirm), null);
    const files = {
      files: createDeletedFiles(pool),
      references: createFileReferences(pool),
      blobs,
      requireCertainty,
      logger,
    };
    const deleteFiles = () => deleteDeletedFiles(files, signal);
    const held = await deleteQuietThreads(
      { retention, deleteFiles, rules, requireCertainty, logger },
      signal,
    );
    if (signal.aborted) output.print('interrupted: run the same command again to continue');
    else if (held === null) output.print('deleted');
    else {
      output.note(
        `${formatCount(emailsOf(held), 'email')} are held: more than may be deleted in an hour. ` +
          'If it is right that they go, run it with --confirm and that number',
      );
      return 'failed';
    }
    return 'done';
  },
});
