/**
 * Writes the list of codes in docs/api/errors.md, and the codes of the client, from the registry of errors; run `npm run build` before. With
 * --check it only reports whether the files are up to date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { ERRORS } from '../dist/core/error-registry.js';

const PAGE = new URL('../docs/api/errors.md', import.meta.url);
const CLIENT = new URL('../clients/typescript/src/generated/error-codes.ts', import.meta.url);

const codes = Object.entries(ERRORS).sort(([a], [b]) => (a < b ? -1 : 1));

/** A message with the names of its values. */
const shown = (text) =>
  text
    .replace('{hint}', '')
    .replaceAll(/\{(\w+)\}/g, '_$1_')
    .replaceAll(/<[^>]+>/g, '`$&`');

const sections = codes.map(
  ([code, { status, text, remedy, temporary }]) =>
    `### ${code}\n\n${temporary ? `Status ${status}, temporary.` : `Status ${status}.`} ${shown(text.en)} ${remedy}`,
);
const union = codes.map(([code]) => `  | '${code}'`).join('\n');

const page = await readFile(PAGE, 'utf8');
const files = [
  [
    PAGE,
    page.replace(
      /(<!-- generated: codes -->\n)[^]*?(<!-- end -->)/,
      (_, start, end) => `${start}\n${sections.join('\n\n')}\n\n${end}`,
    ),
  ],
  [CLIENT, `/** Written by scripts/errors.mjs. */\nexport type RegisteredCode =\n${union};\n`],
];

for (const [file, text] of files) {
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8')) !== text) {
    console.error(`${file.pathname} is stale: run node scripts/errors.mjs`);
    process.exitCode = 1;
  }
}
