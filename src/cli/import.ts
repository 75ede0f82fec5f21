/** `email-worker import`: records emails that are files. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { defineCommand } from './command.ts';
import { formatError } from './command-logger.ts';
import { printable } from './output.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Records emails from .eml files, or from folders of them.',
  description:
    'Each email is recorded once, in its thread, however often it is imported: after an interruption, run the same ' +
    'command again. A file that can not be read is listed and stops nothing.',
  arguments: [{ name: 'path', meaning: 'A file or a folder.', required: true, repeated: true }],
  options: {
    account: {
      type: 'string',
      value: 'id',
      meaning: 'The account the emails belong to. Default: the first one.',
    },
  },
  async run({ account = null }, paths, { output, signal, open }) {
    const data = await open();
    const counts = { received: 0, duplicate: 0, failed: 0 };
    for (const given of paths) {
      for await (const file of listFiles(given)) {
        if (signal.aborted) break;
        try {
          const raw = { kind: 'bytes', bytes: await readFile(file) } as const;
          const { kind } = await data.receiveMessage({ raw, accountId: account }, data.spool.create());
          counts[kind] += 1;
        } catch (error) {
          counts.failed += 1;
          output.note(printable(`${file}: ${formatError(error)}`));
        }
      }
    }
    output.print(`imported ${counts.received}, known before ${counts.duplicate}, failed ${counts.failed}`);
    return counts.failed === 0 ? 'done' : 'failed';
  },
});

async function* listFiles(given: string): AsyncGenerator<string> {
  if (!(await lstat(given)).isDirectory()) {
    yield given;
    return;
  }
  const entries = await readdir(given, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = path.join(given, entry.name);
    if (entry.isDirectory()) yield* listFiles(found);
    else if (entry.isFile() && entry.name.toLowerCase().endsWith('.eml')) yield found;
  }
}
