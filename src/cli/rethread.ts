/** `email-worker rethread`: recomputes the threads. */
import type { ThreadChanges } from '../areas/threads/rethread.ts';
import { defineCommand } from './command.ts';
import { formatCount } from './api/format.ts';
import { printable } from './output.ts';

/** Emails between two lines of progress. */
const TELL_EVERY = 100_000;

export const rethreadCommand = defineCommand({
  name: 'rethread',
  summary: 'Computes all threads from the stored emails and corrects differences.',
  description:
    'Threads follow from Message-ID, In-Reply-To, References and decisions: a split, merge or move is kept. Usually nothing ' +
    'differs. Each email in a wrong thread is listed with the reason. The service may run meanwhile. After an interruption, run ' +
    'the same command again.\n\n' +
    'The dry run reads one snapshot of the database and changes nothing.',
  arguments: [],
  options: {
    'dry-run': { type: 'boolean', meaning: 'Only lists what would change.' },
  },
  examples: [{ line: 'rethread --dry-run', meaning: 'Lists emails in a wrong thread.' }],
  async run({ 'dry-run': dryRun = false }, _positionals, { output, signal, open }) {
    const data = await open();
    let told = 0;
    const result = await data.rethread({
      dryRun,
      signal,
      onChanges: (changes) => {
        for (const line of linesOf(changes)) output.print(printable(line));
      },
      onProgress: (emails) => {
        if (emails - told < TELL_EVERY) return;
        told = emails;
        output.note(`${formatCount(emails, 'email')} read`);
      },
    });
    const [move, end, change] = dryRun
      ? ['would move', 'would end', 'would change']
      : ['moved', 'ended', 'changed'];
    output.print(
      `${formatCount(result.emails, 'email')} read; ${result.moved} ${move}, ${formatCount(result.merged, 'thread')} ${end} in another ` +
        `one, ${formatCount(result.messageIds, 'Message-ID')} ${change} threads`,
    );
    return 'done';
  },
});

function linesOf({ moves, merged }: ThreadChanges): readonly string[] {
  return [
    ...moves.map(
      ({ emailId, messageId, from, to, why }) =>
        `email ${emailId} <${messageId}>: from thread ${from} to ${to ?? 'a new thread'}: ${why}`,
    ),
    ...merged.map(({ id, into }) => `thread ${id}: ends in thread ${into}`),
  ];
}
