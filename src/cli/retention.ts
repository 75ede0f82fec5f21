/** `email-worker retention`: deletes threads whose retention has ended, as the service does by itself. */
import { createFileReferences } from '../adapters/postgres/emails/file-references.ts';
import { createDeletedFiles, createDeletionStore } from '../adapters/postgres/erase/deletion-store.ts';
import { deleteDeletedFiles } from '../app/erase/delete-deleted-files.ts';
import { deleteQuietThreads, quietSince } from '../app/erase/retain.ts';
import { retentionRules } from '../config/config-accounts.ts';
import { formatCount } from './api/format.ts';
import { defineCommand } from './command.ts';

export const retentionCommand = defineCommand({
  name: 'retention',
  summary: 'Deletes threads that are kept no longer, by RETENTION_DAYS or the accounts file.',
  description:
    'The service does so by itself, every hour. This is for a look at what a rule would delete, and for a large backlog. ' +
    'The service may run meanwhile.',
  arguments: [],
  options: { 'dry-run': { type: 'boolean', meaning: 'Only counts what would be deleted.' } },
  examples: [{ line: 'retention --dry-run', meaning: 'Counts what would be deleted.' }],
  async run({ 'dry-run': dryRun = false }, _positionals, { config, output, logger, signal, open }) {
    const rules = retentionRules(config.accounts);
    if (rules.length === 0) {
      output.note('every account keeps everything: RETENTION_DAYS is not set');
      return 'done';
    }
    const { pool, blobs, clock } = await open();
    const deletions = createDeletionStore(pool);
    for (const rule of rules) {
      const { threads, emails } = await deletions.countQuiet(rule.accountId, quietSince(rule, clock));
      output.print(
        `${rule.accountId}: ${formatCount(threads, 'thread')} with ${formatCount(emails, 'email')} in which nothing happened for ${formatCount(rule.days, 'day')}`,
      );
    }
    if (dryRun) return 'done';
    const files = { files: createDeletedFiles(pool), references: createFileReferences(pool), blobs };
    const deleteFiles = () => deleteDeletedFiles(files, signal);
    await deleteQuietThreads({ deletions, deleteFiles, rules, clock, logger }, signal);
    output.print(signal.aborted ? 'interrupted: run the same command again to continue' : 'deleted');
    return 'done';
  },
});
