/** Writes docs/openapi.json from the routes; run `npm run build` before. With --check it only reports whether the file is up to date. */
import { readFile, writeFile } from 'node:fs/promises';
import { createHttpApp } from '../dist/adapters/http/app.js';

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
const text = `${JSON.stringify(generated, null, 2)}\n`;
if (process.argv.includes('--check')) {
  if ((await readFile(FILE, 'utf8')) !== text) {
    console.error('docs/openapi.json is stale: run node scripts/openapi.mjs');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, text);
}
