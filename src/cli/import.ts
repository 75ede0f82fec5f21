/** `email-worker import`: records emails from files. */
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createMailFiles } from '../connectors/mail-files/mail-files.ts';
import { createImportLog } from '../areas/import/import-log.ts';
import { createImportMarks } from '../areas/import/import-marks.ts';
import {
  importMail,
  zeroCounts,
  type ImportCounts,
  type ImportObserver,
} from '../areas/import/import-mail.ts';
import type { ImportMarks, ImportOutcome, MailFiles } from '../areas/import/import-ports.ts';
import { watchImport } from '../areas/import/watch-import.ts';
import { compileLate } from '../platform/base/late-compiling.ts';
import { formatBytes } from './api/format.ts';
import { defineCommand, UsageError } from './command.ts';
import { ImportReport } from './import-report.ts';
import type { Output } from './output.ts';
import { startProgressBar, type ProgressBar } from './progress-bar.ts';
import { parseDate } from './values.ts';

/** How long the database or the file storage may be unavailable, in ms: a restart of the service takes seconds. */
const PATIENCE_MS = 2 * 60_000;
/** The time between two lines of progress when output is not a terminal, in ms. */
const LINE_EVERY_MS = 30_000;

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Records emails from files: .eml, mbox and Maildir.',
  description:
    'Folders are searched recursively for Maildirs with their subfolders, .eml files, and files that begin like an mbox. ' +
    'Symbolic links in folders are not followed. No program should deliver into the files during the import.\n\n' +
    'Each email is recorded once, in its thread, however often it is imported and however it arrived before. After an ' +
    'interruption, or when emails were added, run the same command again: finished files, and finished bytes of mbox files, are ' +
    'skipped and counted. Emails that cannot be imported are listed and do not stop the import; empty files are listed and are ' +
    'no failure.\n\n' +
    'Folders and mbox files named like a Sent folder (Sent, Sent Items, Gesendet, Envoyés …, with their content) are recorded ' +
    'as outbound. Drafts, by their folder or their Maildir flag, and junk and trash folders are skipped and counted; junk or ' +
    'trash given as a path is imported. --sent and --received override this for all files.',
  arguments: [
    { name: 'path', meaning: 'A file or a folder.', required: true, repeated: true, completes: 'files' },
  ],
  options: {
    account: {
      type: 'string',
      value: 'id',
      meaning: 'The account the emails belong to. Default: the first one.',
    },
    sent: {
      type: 'boolean',
      meaning: 'Record all emails as outbound, sent from the account by any program. For Sent folders only.',
    },
    received: {
      type: 'boolean',
      meaning: 'Record all emails as received, whatever their folders are called; skip nothing.',
    },
    since: {
      type: 'string',
      value: 'date',
      meaning: 'Skips emails before this date (2026-01-31, or with a time: 2026-01-31T12:00:00Z).',
    },
    unread: {
      type: 'boolean',
      meaning:
        'Records all emails as unread. Default: the flags in a Maildir or the Status in an mbox, else read.',
    },
    restore: {
      type: 'boolean',
      meaning:
        'Also records emails that were deleted or erased, which are then no longer treated as deleted. Reads all files again.',
    },
    report: {
      type: 'string',
      value: 'file',
      completes: 'files',
      meaning:
        'File for the list of failures, one JSON object a line. Default: a new file in `DATA_DIR/imports`.',
    },
  },
  examples: [
    { line: 'import ~/Maildir archive.mbox', meaning: 'Records a Maildir and an mbox.' },
    {
      line: "import --account sales --since 2026-01-01 'Sent Items.mbox'",
      meaning: 'Records what an account has sent since a date.',
    },
  ],
  async run(
    { account, sent = false, received = false, since, unread = false, restore = false, report: reportFile },
    paths,
    context,
  ) {
    const { config, output, logger, signal } = context;
    const accountId = account ?? config.accounts[0].id;
    if (sent && received) throw new UsageError('--sent and --received exclude each other');
    const as = sent ? 'sent' : received ? 'received' : 'folders';
    const sinceDate = since === undefined ? null : parseDate('--since', since);
    const report = new ImportReport(
      path.resolve(reportFile ?? path.join(config.dataDir, 'imports', `${nameOfNow()}.jsonl`)),
      output,
    );

    compileLate();
    const data = await context.open();
    if (!data.accounts.has(accountId)) throw new UsageError(`there is no account ${accountId}`);
    const files = createMailFiles();
    const began = performance.now();
    const counts = zeroCounts();
    const log = await watchImport(createImportLog(data.pool), logger, accountId, counts);
    let outcome: ImportOutcome = 'failed';
    try {
      const watch = await showProgress(output, counts, () => countBytes(files, paths, signal, log.setTotal));
      try {
        await importMail(
          {
            files,
            marks: restore ? NO_MARKS : createImportMarks(data.pool),
            receive: (request, folder) => data.receiveMessage({ ...request, restores: restore }, folder),
            reader: data.reader,
            openFile: (file) => createReadStream(file),
            spool: data.spool,
            logger,
            maxBytes: config.maxInboundBytes,
            patienceMs: PATIENCE_MS,
          },
          { paths, accountId, as, since: sinceDate, isUnread: unread },
          {
            advanced: (bytes) => {
              watch.advanced(bytes);
              log.advance(bytes);
            },
            failed: (failure) => report.add(failure),
            empty: (file) =>
              report.add({ path: file, offset: null, reason: 'is empty: there is no email in it' }),
            waiting: (reason) => output.note(`${reason}: waiting until it is back`),
          },
          counts,
          signal,
        );
        outcome = signal.aborted ? 'stopped' : 'done';
        await watch.counted;
      } finally {
        watch.stop();
        await report.close();
        output.print(formatSummary(counts, performance.now() - began));
        if (!report.isEmpty) output.print(`what could not be imported: ${report.path}`);
        if (signal.aborted) output.note('run the same command again to continue');
      }
    } finally {
      await log.end(outcome);
    }
    if (!signal.aborted && Object.values(counts).every((count) => count === 0)) {
      output.note('no new mail was found there');
    }
    return counts.failed === 0 ? 'done' : 'failed';
  },
});

/** A mark only records that a file was imported, not that emails of it have been deleted since. */
const NO_MARKS: ImportMarks = {
  findDone: async () => new Set(),
  findMbox: async () => null,
  markDone: async () => undefined,
  markMbox: async () => undefined,
  deleteOld: async () => undefined,
};

/** The bytes of all files found at the paths. `tell` gets the sum once all files are counted. */
async function countBytes(
  files: MailFiles,
  paths: readonly string[],
  signal: AbortSignal,
  tell: (bytes: number) => void,
): Promise<number> {
  let total = 0;
  for await (const listed of files.list(paths)) {
    if (signal.aborted) return total;
    if (listed.kind === 'file') total += listed.file.sizeBytes;
  }
  tell(total);
  return total;
}

/** In a terminal a bar, once the files are counted; otherwise a line now and then, without waiting for the count. */
async function showProgress(
  output: Output,
  counts: ImportCounts,
  count: () => Promise<number>,
): Promise<Pick<ImportObserver, 'advanced'> & { readonly counted: Promise<unknown>; stop(): void }> {
  let bytes = 0;
  const text = () => formatCounts(counts);
  const counted = count();
  let bar: ProgressBar | null = null;
  if (output.watched) {
    output.note('counting …');
    bar = startProgressBar({ output, stream: process.stderr, total: await counted, text });
  }
  const timer = setInterval(() => {
    if (bar === null) output.note(`${text()} (${formatBytes(bytes)})`);
  }, LINE_EVERY_MS);
  return {
    counted,
    advanced: (more) => {
      bytes += more;
      bar?.advance(more);
    },
    stop: () => {
      clearInterval(timer);
      bar?.stop();
    },
  };
}

function formatCounts({ imported, known, failed, unchangedFiles }: ImportCounts): string {
  return `${imported} imported, ${known + unchangedFiles} known, ${failed} failed`;
}

function formatSummary(counts: ImportCounts, ms: number): string {
  const { imported, known, older, failed, empty, mboxBytesBefore, unchangedFiles } = counts;
  const { unsent, junk, trash } = counts;
  const seconds = ms / 1000;
  const rate = Math.round((imported + known + older) / Math.max(seconds, 0.001));
  return [
    `imported ${imported}, known before ${known}, failed ${failed}`,
    ...(older > 0 ? [`older than wanted ${older}`] : []),
    ...(empty > 0 ? [`empty ${empty}`] : []),
    ...(unsent > 0 ? [`files of drafts left out ${unsent}`] : []),
    ...(junk > 0 ? [`files of junk left out ${junk}`] : []),
    ...(trash > 0 ? [`files of trash left out ${trash}`] : []),
    ...(unchangedFiles > 0 ? [`files done before ${unchangedFiles}`] : []),
    ...(mboxBytesBefore > 0 ? [`bytes of mbox files done before ${mboxBytesBefore}`] : []),
    `${seconds.toFixed(1)} s, ${rate} a second`,
  ].join(', ');
}

/** `2026-01-31T12-00-00Z` and the process id, so that two imports never share a file. */
const nameOfNow = () => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z-${process.pid}`;
