import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { DataDirError, lockDataDir, waitForDataDir } from './data-dir-lock.ts';

const CHILD = fileURLToPath(new URL('../../../test/helpers/lock-child.mjs', import.meta.url));

describe('the lock of DATA_DIR', () => {
  let temp: TempFolder;
  let dataDir: string;

  beforeEach(async () => {
    temp = await makeTempFolder();
    dataDir = join(temp.path, 'a', 'data');
  });
  afterEach(() => temp.remove());

  /** Another process that takes the lock; a program that it starts keeps running after that process is killed. */
  const startHolder = async () => {
    const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const kill = async () => {
      if (child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    return { pid: child.pid, inheritor: Number(chunk.toString()), kill };
  };

  test('makes DATA_DIR for its owner only, and notes the process that holds it', async () => {
    const lock = await lockDataDir(dataDir);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(dataDir, 'lock'), 'utf8')).toBe(`${process.pid}\n`);
    await lock.release();
  });

  test('leaves the permissions of an existing DATA_DIR as they are', async () => {
    await mkdir(dataDir, { recursive: true });
    await chmod(dataDir, 0o710);
    const lock = await lockDataDir(dataDir);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o710);
    await lock.release();
  });

  test('is refused where no folder can be made', async () => {
    for (const folder of ['/proc/email-worker', '/proc/email-worker/data']) {
      await expect(lockDataDir(folder)).rejects.toMatchObject({ code: 'data_dir_unusable' });
    }
  });

  test('has one holder at a time, also within one process, until it is released', async () => {
    const first = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toMatchObject({
      code: 'data_dir_locked',
      message: `DATA_DIR ${dataDir} is in use by process ${process.pid}. Stop that process, or give this one a DATA_DIR of its own.`,
    });
    await first.release();
    const second = await lockDataDir(dataDir);
    // Another open file may have the descriptor's number by now.
    await first.release();
    await expect(lockDataDir(dataDir)).rejects.toBeInstanceOf(DataDirError);
    await second.release();
  });

  test('ends with its process, killed or not, even when a child of the process lives on', async () => {
    const holder = await startHolder();
    try {
      await expect(lockDataDir(dataDir)).rejects.toThrow(`in use by process ${holder.pid}`);
      await holder.kill();
      expect(() => process.kill(holder.inheritor, 0)).not.toThrow();
      const lock = await lockDataDir(dataDir);
      expect(await readFile(join(dataDir, 'lock'), 'utf8')).toBe(`${process.pid}\n`);
      await lock.release();
    } finally {
      await holder.kill();
      process.kill(holder.inheritor, 'SIGKILL');
    }
  });

  test('is waited for when its holder lets go soon, until a signal ends that, and never otherwise', async () => {
    const brief = await lockDataDir(dataDir, { isBrief: true });
    const waiting = waitForDataDir(dataDir);
    const impatient = new AbortController();
    const aborted = waitForDataDir(dataDir, { signal: impatient.signal });
    impatient.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    // A caller that does not wait is refused, with the process that has the lock.
    await expect(lockDataDir(dataDir)).rejects.toThrow(`in use by process ${process.pid}.`);
    await brief.release();
    const lock = await waiting;
    await expect(waitForDataDir(dataDir)).rejects.toMatchObject({ code: 'data_dir_locked' });
    await lock.release();
  });

  test('is given to exactly one of several that ask at the same moment', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dataDir)));
    const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(locks).toHaveLength(1);
    await locks[0]!.release();
  });

  test('says what is wrong when DATA_DIR is a file, or the lock a link to somewhere else', async () => {
    const file = join(temp.path, 'file');
    await writeFile(file, '');
    await expect(lockDataDir(file)).rejects.toMatchObject({ code: 'data_dir_unusable' });
    await mkdir(dataDir, { recursive: true });
    await symlink(file, join(dataDir, 'lock'));
    await expect(lockDataDir(dataDir)).rejects.toMatchObject({ code: 'data_dir_unusable' });
    expect(await readFile(file, 'utf8')).toBe('');
  });
});
