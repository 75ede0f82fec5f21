/** Writes docs/openapi.json from the routes; run `npm run build` before. With --check it only reports whether the file is up to date. */
import { readFile, writeFile } from 'node:fs/promises';
import { createHttpApp } from '../dist/api/app.js';

const FILE = new URL('../docs/openapi.json', import.meta.url);

const silent = { debug() {}, info() {}, warn() {}, error: console.error };
const { fastify } = createHttpApp({
  application: {},
  runner: {},
  spool: {},
  secrets: ['unused'],
  logger: silent,
  security: { note() {} },
  clock: () => new Date(),
});
const response = await fastify.inject('/api/openapi.json');
await fastify.close();
if (response.statusCode !== 200) throw new Error(`the document could not be made: ${response.body}`);

const generated = { 'x-generated-by': 'scripts/openapi.mjs', ...response.json() };
/** An operation or a component a line: small, and a change of one is a change of its line. */
const lines = (value, depth) =>
  depth === 0 || typeof value !== 'object' || Array.isArray(value)
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([key, inner]) => `${JSON.stringify(key)}:${lines(inner, depth - 1)}`)
        .join(',\n')}\n}`;
const text = `{\n${Object.entries(generated)
  .map(
    ([key, value]) =>
      `${JSON.stringify(key)}:${lines(value, key === 'paths' || key === 'components' ? 2 : 0)}`,
  )
  .join(',\n')}\n}\n`;
if (process.argv.includes('--check')) {
  if ((await readFile(FILE, 'utf8')) !== text) {
    console.error('docs/openapi.json is stale: run node scripts/openapi.mjs');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, text);
}
