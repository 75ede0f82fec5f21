import { chmod, mkdir, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import type { Identity } from './identity.ts';
import type { Location } from './location.ts';
import { chooseSocketFolder, ensureSocketFolder, removeSocketFolder, socketPath } from './socket-folder.ts';

const self: Identity = {
  kind: 'self',
  name: 'self',
  uid: process.geteuid!(),
  gid: process.getegid!(),
  named: true,
  command: (file, args) => ({ file, args: [...args], options: { cwd: '/', env: {} } }),
};
const locationWith = (runFolder: string): Location => ({
  folder: '/',
  dataFolder: '/data',
  runFolder,
  logFile: '/log',
  marker: null,
});

describe('the folder of the socket', () => {
  let temp: TempFolder;

  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  test('is the run folder up to the longest path a socket may have, in bytes', () => {
    const room = (process.platform === 'linux' ? 107 : 103) - Buffer.byteLength(socketPath('/x')) + 1;
    const longest = `/${'x'.repeat(room)}`;
    expect(chooseSocketFolder(locationWith(longest), self)).toEqual({ path: longest, temporary: false });
    for (const tooLong of [`${longest}x`, `/${'ü'.repeat(room)}`]) {
      const folder = chooseSocketFolder(locationWith(tooLong), self);
      expect(folder.temporary).toBe(true);
      expect(folder.path.startsWith(tmpdir())).toBe(true);
    }
  });

  test('has one name for one DATA_DIR', () => {
    const [one, two] = ['1', '2'].map((name) => locationWith(`/${name.repeat(200)}`));
    expect(chooseSocketFolder(one!, self)).toEqual(chooseSocketFolder(one!, self));
    expect(chooseSocketFolder(one!, self)).not.toEqual(chooseSocketFolder(two!, self));
  });

  test('is made private, used again, and removed', async () => {
    const folder = { path: join(temp.path, 'socket'), temporary: true };
    await ensureSocketFolder(folder, self);
    await ensureSocketFolder(folder, self);
    expect((await stat(folder.path)).mode & 0o777).toBe(0o700);
    await removeSocketFolder(folder);
    await removeSocketFolder(folder);
    await expect(stat(folder.path)).rejects.toThrow('ENOENT');
  });

  test('is refused when another user put a link there, or a folder that others can enter', async () => {
    const trap = join(temp.path, 'trap');
    await mkdir(trap, { mode: 0o700 });
    const link = join(temp.path, 'link');
    await symlink(trap, link);
    await expect(ensureSocketFolder({ path: link, temporary: true }, self)).rejects.toThrow(
      'not a private folder',
    );
    await chmod(trap, 0o777);
    await expect(ensureSocketFolder({ path: trap, temporary: true }, self)).rejects.toThrow(
      'not a private folder',
    );
  });

  test.runIf(process.geteuid?.() === 0)('is refused when it belongs to another user', async () => {
    const folder = { path: join(temp.path, 'socket'), temporary: true };
    const nobody: Identity = { ...self, kind: 'account', uid: 65_534, gid: 65_534 };
    await ensureSocketFolder(folder, nobody);
    expect((await stat(folder.path)).uid).toBe(65_534);
    await expect(ensureSocketFolder(folder, self)).rejects.toThrow('not a private folder');
  });
});
