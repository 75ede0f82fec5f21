import { chmod, cp, lstat, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { copyBinaries, findBinaries } from './binaries.ts';

describe('the binaries', () => {
  let temp: TempFolder;

  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  test('are found for this platform, and know their version', async () => {
    const binaries = await findBinaries();
    expect(binaries).toMatchObject({ complete: true, major: '18' });
    expect(execFileSync(binaries.postgres, ['--version'], { encoding: 'utf8' })).toContain(
      `(PostgreSQL) ${binaries.major}.`,
    );
  });

  test.each([
    ['win32', 'x64'],
    ['sunos', 'x64'],
    ['linux', 'riscv64'],
  ])('are missing for %s-%s, and the error names the way out', async (platform, arch) => {
    await expect(findBinaries(platform, arch)).rejects.toThrow(
      new RegExp(`${platform}-${arch}.*DATABASE_URL`),
    );
  });

  test('are missing when npm left the optional package out, and the error says so', async () => {
    const other = process.platform === 'darwin' ? 'linux' : 'darwin';
    await expect(findBinaries(other, 'x64')).rejects.toThrow(/is not installed.*optional.*DATABASE_URL/);
  });

  test('run from a copy of an installation without install scripts and closed to others', async () => {
    const original = await findBinaries();
    const installed = join(temp.path, 'installed');
    await cp(original.folder, installed, { recursive: true, verbatimSymlinks: true });
    const library = join(installed, 'native', 'lib');
    for (const name of await readdir(library)) {
      if ((await lstat(join(library, name))).isSymbolicLink()) await rm(join(library, name));
    }
    for (const name of ['postgres', 'initdb']) await chmod(join(installed, 'native', 'bin', name), 0o600);
    const bare = {
      ...original,
      folder: installed,
      complete: false,
      postgres: join(installed, 'native', 'bin', 'postgres'),
      initdb: join(installed, 'native', 'bin', 'initdb'),
    };

    const copy = await copyBinaries(bare, temp.path);
    expect(copy.postgres.startsWith(join(temp.path, `runtime-${original.version}`))).toBe(true);
    for (const program of [copy.postgres, copy.initdb]) {
      expect((await stat(program)).mode & 0o555).toBe(0o555);
      expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toContain('(PostgreSQL) 18.');
    }
  });

  test('are copied once, and the copy of another version is removed', async () => {
    const binaries = await findBinaries();
    await copyBinaries({ ...binaries, version: '0.0.0' }, temp.path);
    const copy = await copyBinaries(binaries, temp.path);
    expect(await readdir(temp.path)).toEqual([`runtime-${binaries.version}`]);
    const { ctimeMs } = await stat(copy.postgres);
    expect(await copyBinaries(binaries, temp.path)).toEqual(copy);
    expect((await stat(copy.postgres)).ctimeMs).toBe(ctimeMs);
  });
});
