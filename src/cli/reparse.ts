/** `email-worker reparse`: reads stored messages again. */
import { createReadStream } from 'node:fs';
import { createEmailStore } from '../areas/emails/email-store.ts';
import { createReparseStore } from '../areas/receive/reparse-store.ts';
import { reparse, type ReparseOutcome } from '../areas/receive/reparse.ts';
import { PARSE_DEFECTS } from '../core/mime/parse/parsed-message.ts';
import { defineCommand, UsageError } from './command.ts';
import { printable } from './output.ts';
import { formatCount } from './api/format.ts';
import { parseDate, parseUuid } from './values.ts';

/** Emails between two lines of progress. */
const TELL_EVERY = 10_000;

export const reparseCommand = defineCommand({
  name: 'reparse',
  summary: 'Parses received messages again and records the differences.',
  description:
    'Use it after an update with a better parser, and for emails with the defect not_parsed, whose bytes alone were ' +
    'recorded. Texts, addresses, subject, defects, attachments and references are replaced, completely or not at all. Ids, ' +
    'customers and decisions about threads stay, and an attachment with the same bytes and name keeps its id. Threads that turn ' +
    'out to be one are merged; to split threads, run rethread.\n\n' +
    'Each changed email is printed with its changes. The service may run meanwhile.',
  arguments: [],
  options: {
    email: { type: 'string', value: 'id', meaning: 'Only this email.' },
    account: { type: 'string', value: 'id', meaning: 'Only emails of this account.' },
    defect: {
      type: 'string',
      value: 'name',
      completes: PARSE_DEFECTS,
      meaning: 'Only emails with this defect, such as not_parsed.',
    },
    since: {
      type: 'string',
      value: 'date',
      meaning: 'Only emails recorded since then (2026-01-31, or with a time: 2026-01-31T12:00:00Z).',
    },
    after: {
      type: 'string',
      value: 'id',
      meaning: 'Continues after this email, which an interrupted run printed.',
    },
    'dry-run': { type: 'boolean', meaning: 'Only prints what would change.' },
  },
  examples: [
    {
      line: 'reparse --defect not_parsed --dry-run',
      meaning: 'Shows what a new version parses in emails with this defect.',
    },
  ],
  async run({ email, account, defect, since, after, 'dry-run': dryRun = false }, _positionals, context) {
    const { output, logger, signal } = context;
    if (defect !== undefined && !PARSE_DEFECTS.some((known) => known === defect)) {
      throw new UsageError(`--defect must be one of ${PARSE_DEFECTS.join(', ')}`);
    }
    const filter = {
      emailId: email === undefined ? null : parseUuid('--email', email),
      accountId: account ?? null,
      defect: defect ?? null,
      since: since === undefined ? null : parseDate('--since', since),
    };
    const start = after === undefined ? null : parseUuid('--after', after);
    const data = await context.open();
    if (!dryRun) await data.requireStorage();
    const counts = { changed: 0, unchanged: 0, same_as: 0, not_parsed: 0, failed: 0, gone: 0 };
    let read = 0;
    let last = start;
    try {
      await reparse(
        {
          store: createReparseStore(data.pool),
          messages: createEmailStore(data.pool),
          accounts: data.accounts,
          blobs: data.blobs,
          reader: data.reader,
          unreadable: data.unreadable,
          spool: data.spool,
          openFile: (file, range) => createReadStream(file, range),
          ids: data.ids,
          logger,
        },
        {
          filter,
          after: start,
          dryRun,
          signal,
          onEmail: (id, outcome) => {
            last = id;
            counts[outcome.kind] += 1;
            const line = formatOutcome(outcome);
            if (line !== null) output.print(printable(`${id}: ${line}`));
            read += 1;
            if (read % TELL_EVERY === 0) output.note(`${formatCount(read, 'email')} read`);
          },
        },
      );
    } finally {
      output.print(
        `${formatCount(read, 'email')} read: ${counts.changed} ${dryRun ? 'would change' : 'changed'}, ` +
          `${counts.unchanged} as before, ${counts.same_as} recorded twice, ${counts.not_parsed} that can't be parsed, ` +
          `${counts.failed} failed`,
      );
      if (signal.aborted && last !== null) output.note(`to continue: the same command with --after ${last}`);
    }
    if (filter.emailId !== null && read === 0 && !signal.aborted) {
      output.note(`no received email ${filter.emailId} was found that fits the other options`);
      return 'failed';
    }
    return counts.failed === 0 ? 'done' : 'failed';
  },
});

/** null: nothing to report. */
function formatOutcome(outcome: ReparseOutcome): string | null {
  switch (outcome.kind) {
    case 'changed':
      return outcome.fields.join(', ');
    case 'same_as':
      return `is the same email as ${outcome.emailId}; nothing was changed`;
    case 'not_parsed':
      return 'can not be parsed';
    case 'failed':
      return `failed: ${outcome.reason}`;
    default:
      return null;
  }
}
