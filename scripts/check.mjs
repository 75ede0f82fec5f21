/**
 * `npm run check`: the commands of the other scripts that check without tests, as many at once as there are cores, what fails most often
 * first. Prints a line for each, and the output of those that fail; ends with 1 when one does.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const { scripts } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const CHECKS = [
  scripts['format:check'],
  scripts.types,
  `${scripts.statements} --check`,
  scripts.lint,
].flatMap((commands) => commands.split(' && '));
const env = {
  ...process.env,
  PATH: `${path.resolve('node_modules/.bin')}${path.delimiter}${process.env.PATH}`,
};

/** Prints its line; true if it passed. */
async function check(command) {
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
  console.log(
    code === 0 ? `passed in ${seconds} s: ${command}` : `failed in ${seconds} s: ${command}\n${output}`,
  );
  return code === 0;
}

const waiting = [...CHECKS];
const failed = [];
async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    if (!(await check(next))) failed.push(next);
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`failed:\n${failed.join('\n')}`);
  process.exitCode = 1;
}
