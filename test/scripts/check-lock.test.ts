/** The lock file pins every package by its content. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { makeTempFolder } from '../helpers/temp-folder.ts';

const CHECK = fileURLToPath(new URL('../../scripts/check-lock.mjs', import.meta.url));
const INTEGRITY = `sha512-${'A'.repeat(86)}==`;

const check = (...args: readonly string[]) => promisify(execFile)(process.execPath, [CHECK, ...args]);

it('the lock file has every package with its integrity, for every platform, and names no registry', async () => {
  await expect(check()).resolves.toMatchObject({ stderr: '' });
});

it.each([
  ['no integrity', { version: '1.0.0' }, 'node_modules/a has no integrity'],
  ['a weak integrity', { integrity: 'sha1-x' }, 'node_modules/a has no integrity'],
  [
    'a registry',
    { integrity: INTEGRITY, resolved: 'https://mirror.test/a.tgz' },
    'node_modules/a names a registry',
  ],
  [
    'a platform left out',
    { integrity: INTEGRITY, optionalDependencies: { b: '1.0.0' } },
    'b is missing, for node_modules/a',
  ],
])('%s is refused', async (_name, entry, fault) => {
  const temp = await makeTempFolder();
  const file = join(temp.path, 'package-lock.json');
  await writeFile(file, JSON.stringify({ packages: { '': { name: 'own' }, 'node_modules/a': entry } }));
  await expect(check(file)).rejects.toMatchObject({ code: 1, stderr: `${fault}\n` });
  await temp.remove();
});
