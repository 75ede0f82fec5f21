import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { findRunning, readCommandLine, readPidFile, terminate } from './postmaster.ts';
import { socketPath } from './socket-folder.ts';

describe('a server as a process', () => {
  let temp: TempFolder;

  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  const writePidFile = (...lines: readonly (string | number)[]) =>
    writeFile(join(temp.path, 'postmaster.pid'), `${lines.join('\n')}\n`);

  test('is read from the pid file, as far as that is written', async () => {
    expect(await readPidFile(temp.path)).toBeNull();
    await writePidFile(4711);
    expect(await readPidFile(temp.path)).toEqual({ pid: 4711, socketFolder: null, status: null });
    await writePidFile(4711, '/data', 1_700_000_000, 5432, '/run/a b', '', '  123  4', 'ready   ');
    expect(await readPidFile(temp.path)).toEqual({ pid: 4711, socketFolder: '/run/a b', status: 'ready' });
    await writePidFile(-4711, '/data');
    expect(await readPidFile(temp.path)).toMatchObject({ pid: 4711 });
  });

  test('is not this process, whose pid the file names by chance', async () => {
    await writePidFile(process.pid, temp.path, 1, 5432, join(temp.path, 'gone'), '', '', 'ready');
    expect(await findRunning(temp.path, 'postgres')).toEqual({ kind: 'none' });
    await expect(readFile(join(temp.path, 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });

  test('is left alone when its socket answers but its process cannot be seen', async () => {
    const run = join(temp.path, 'run');
    await mkdir(run);
    const listener = createServer((socket) => socket.destroy());
    listener.listen(socketPath(run));
    await once(listener, 'listening');
    try {
      await writePidFile(process.pid, temp.path, 1, 5432, run, '', '', 'ready');
      await expect(findRunning(temp.path, 'postgres')).rejects.toThrow(
        /process \d+ can't be seen from here.*DATABASE_URL/,
      );
      expect(await readPidFile(temp.path)).not.toBeNull();
    } finally {
      listener.close();
    }
  });

  test('has a command line until it ends, also when its parent does not notice', async () => {
    // The shell starts a child, becomes `sleep` and never waits for that child.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
      const orphan = Number(chunk.toString());
      await expect.poll(() => readCommandLine(orphan)).toBeNull();
      await expect.poll(() => readCommandLine(parent.pid!)).toBe('sleep 600');
      await terminate(parent.pid!);
      expect(await readCommandLine(parent.pid!)).toBeNull();
      await terminate(parent.pid!);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
