/** `email-worker clean-files`: deletes files that no email refers to. */
import { createFileReferences } from '../areas/emails/file-references.ts';
import { cleanFiles } from '../platform/files/clean-files.ts';
import { defineCommand, UsageError } from './command.ts';
import { formatCount } from './api/format.ts';
import { printable } from './output.ts';

const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = 24;

export const cleanFilesCommand = defineCommand({
  name: 'clean-files',
  summary: 'Deletes unreferenced files, such as those left by a crash.',
  description:
    'Checks every file in DATA_DIR/files, or the bucket, against the database and prints each deleted file. Files younger than ' +
    'a day may belong to an email that is being recorded, and stay; so do files with names that the service does not use. The ' +
    'service may run meanwhile.\n\n' +
    'Never let two databases share one bucket and prefix: each would delete the files of the other. When more than half of the ' +
    'files seem unreferenced, nothing is deleted, because another database, or an old backup of it, is more likely than that ' +
    'many crashes.',
  arguments: [],
  options: {
    'older-than': {
      type: 'string',
      value: 'hours',
      meaning: `Only files that were stored at least this many hours ago, 1 or more. Default: ${DEFAULT_HOURS}.`,
    },
    'dry-run': { type: 'boolean', meaning: 'Only prints what would be deleted.' },
    force: { type: 'boolean', meaning: 'Deletes even more than half of the files.' },
  },
  examples: [{ line: 'clean-files --dry-run', meaning: 'Lists unreferenced files.' }],
  async run(
    { 'older-than': olderThan = String(DEFAULT_HOURS), 'dry-run': dryRun = false, force = false },
    _positionals,
    { output, signal, open },
  ) {
    const hours = /^\d{1,6}$/.test(olderThan) ? Number(olderThan) : 0;
    if (hours < 1) throw new UsageError('--older-than must be a whole number of hours, at least 1');
    const data = await open();
    const keep = new Set([...(data.journal?.keys() ?? [])].map(({ emailId }) => emailId));
    const ports = {
      blobs: data.blobs,
      references: createFileReferences(data.pool),
      clock: data.clock,
      requireTime: data.guard.require,
    };
    const options = { olderThanMs: hours * HOUR_MS, keep, signal };

    const found = await cleanFiles(ports, {
      ...options,
      dryRun: true,
      onFile: ({ path }) => {
        if (dryRun) output.print(printable(path));
      },
    });
    const tooMany = found.unreferenced * 2 > found.files;
    if (!dryRun && tooMany && !force) {
      output.note(
        `Nothing in this database refers to ${found.unreferenced} of ${formatCount(found.files, 'file')}: nothing was deleted. ` +
          'See --dry-run, and --force if that is right',
      );
      return 'failed';
    }
    const done = dryRun
      ? found
      : await cleanFiles(ports, {
          ...options,
          dryRun: false,
          onFile: ({ path }) => output.print(printable(path)),
        });
    output.print(
      `${formatCount(done.files, 'file')}, ${done.unreferenced} ${dryRun ? 'would be deleted' : 'deleted'} ` +
        `(${(done.unreferencedBytes / 1e6).toFixed(1)} MB), ${done.foreign} not of this service`,
    );
    return 'done';
  },
});
