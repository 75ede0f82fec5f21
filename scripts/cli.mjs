/**
 * Writes the commands in docs/cli.md from their declarations in the code; run `npm run build` before. With --check it only reports whether
 * the file is up to date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { COMMANDS } from '../dist/cli/commands.js';
import { formatArgument, formatUsage, listOptions } from '../dist/cli/help.js';

const FILE = new URL('../docs/cli.md', import.meta.url);

const row = (left, right) => `| \`${left}\` | ${right.replaceAll('|', '\\|')} |`;

const section = (command) =>
  [
    `## ${command.name}`,
    `    ${formatUsage(command)}`,
    command.summary,
    command.description,
    [
      '| Argument, option | Meaning |',
      '| --- | --- |',
      ...command.arguments.map((argument) => row(formatArgument(argument), argument.meaning)),
      ...listOptions(command).map(({ option, meaning }) => row(option, meaning)),
    ].join('\n'),
    command.examples
      .flatMap(({ line, meaning }) => [`    # ${meaning}`, `    email-worker ${line}`])
      .join('\n'),
  ].join('\n\n');

const before = await readFile(FILE, 'utf8');
const after = before.replace(
  /(<!-- generated: commands -->\n)[^]*?(<!-- end -->)/,
  (_, start, end) => `${start}\n${COMMANDS.map(section).join('\n\n')}\n\n${end}`,
);
if (!process.argv.includes('--check')) await writeFile(FILE, after);
else if (before !== after) {
  console.error('docs/cli.md is stale: run node scripts/cli.mjs');
  process.exitCode = 1;
}
