/**
 * `npm run check`: all checks that run no test, as many at once as there are cores, what fails most often first. Prints a line for each, and
 * the output of those that fail; ends with 1 when one does.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKS = [
  ['format', 'npm run --silent format:check'],
  ['types', 'tsc -p tsconfig.json'],
  ['types of the client', 'tsc -p clients/typescript/tsconfig.json'],
  ['types of the page', 'tsc -p page/tsconfig.json'],
  ['statements', 'npm run --silent statements -- --check'],
  ['lint', 'oxlint --deny-warnings'],
  ['promises', 'oxlint --type-aware --config .oxlintrc.promises.json src clients/typescript/src page/src'],
  ['imports', 'depcruise --config .dependency-cruiser.cjs src'],
  ['unused code', 'knip'],
  ['lock file', 'node scripts/check-lock.mjs'],
];

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const env = {
  ...process.env,
  PATH: `${path.resolve('node_modules/.bin')}${path.delimiter}${process.env.PATH}`,
};

/** Prints its line; true if it passed. */
async function check([name, command]) {
  const started = performance.now();
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(code === 0 ? `${name}: passed in ${seconds} s` : `${name}: failed in ${seconds} s\n${output}`);
  return code === 0;
}

const waiting = [...CHECKS];
const failed = [];
async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    if (!(await check(next))) failed.push(next[0]);
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
