/**
 * Writes the tables in docs/configuration.md from the declarations of the variables in the code; run `npm run build` before. With --check
 * it only reports whether the file is up to date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { IMAP_URL_PARAMETERS } from '../dist/connectors/imap/imap-url.js';
import { SMTP_URL_PARAMETERS } from '../dist/connectors/smtp-out/smtp-url.js';
import { VARIABLES } from '../dist/config/config.js';

const FILE = new URL('../docs/configuration.md', import.meta.url);

const table = (heads, rows) =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const parameters = (meanings) =>
  table(
    ['Parameter', 'Meaning'],
    Object.entries(meanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
  );

const TABLES = {
  variables: table(
    ['Variable', 'Default', 'Meaning'],
    VARIABLES.map(({ name, defaultText, meaning, mayBeInFile }) => [
      mayBeInFile ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``,
      defaultText,
      meaning,
    ]),
  ),
  smtp: parameters(SMTP_URL_PARAMETERS),
  imap: parameters(IMAP_URL_PARAMETERS),
};

const before = await readFile(FILE, 'utf8');
const after = Object.entries(TABLES).reduce(
  (text, [name, content]) =>
    text.replace(
      new RegExp(`(<!-- generated: ${name} -->\n)[^]*?(<!-- end -->)`),
      (_, start, end) => `${start}\n${content}\n\n${end}`,
    ),
  before,
);
if (!process.argv.includes('--check')) await writeFile(FILE, after);
else if (before !== after) {
  console.error('docs/configuration.md is stale: run node scripts/configuration.mjs');
  process.exitCode = 1;
}
