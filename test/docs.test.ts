/** Documents that are made from the code are fresh. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it.each([
  ['docs/openapi.json', 'openapi.mjs'],
  ['docs/configuration.md', 'configuration.mjs'],
  ['docs/cli.md', 'cli.mjs'],
])('%s is what the code says', async (_, script) => {
  const file = fileURLToPath(new URL(`../scripts/${script}`, import.meta.url));
  await expect(promisify(execFile)(process.execPath, [file, '--check'])).resolves.toMatchObject({
    stderr: '',
  });
});
