import { readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type EmbeddedWorkspace,
  createEmbeddedSeed,
  createEmbeddedWorkspace,
} from '../../../test/helpers/embedded-workspace.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { TempFolder } from '../../../test/helpers/temp-folder.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { readCommandLine, readPidFile } from './postmaster.ts';
import { startEmbeddedPostgres } from './server.ts';

const isUnfinished = (name: string) => name.startsWith('data-unfinished-');

describe('after the service was killed', () => {
  let seed: TempFolder;
  let workspace: EmbeddedWorkspace;

  beforeAll(async () => {
    seed = await createEmbeddedSeed();
  });
  afterAll(() => seed.remove());
  beforeEach(async () => {
    workspace = await createEmbeddedWorkspace(seed);
  });
  afterEach(() => workspace.dispose());

  const pidIn = async (dataDir: string) => (await readPidFile(join(dataDir, 'postgres', 'data')))?.pid;
  const names = async () => await readdir(join(workspace.dataDir, 'postgres')).catch(() => []);

  test('the server left running is taken over, and ended by the next orderly stop', async () => {
    const first = await workspace.start();
    await query(first.connection, 'create table note as select 1 as one');
    const pid = await pidIn(workspace.dataDir);
    await first.kill();
    expect(await readCommandLine(pid!)).not.toBeNull();

    const second = await workspace.start();
    expect(await pidIn(workspace.dataDir)).toBe(pid);
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(await readCommandLine(pid!)).toBeNull();
    expect(await workspace.listServed()).toEqual([]);
  });

  test('a start that is ended before it began ends the server left running', async () => {
    await (await workspace.start()).kill();
    const pid = await pidIn(workspace.dataDir);
    const start = startEmbeddedPostgres({
      dataDir: workspace.dataDir,
      logger: silentLogger,
      signal: AbortSignal.abort(new Error('stopped')),
    });
    await expect(start).rejects.toThrow('stopped');
    expect(await readCommandLine(pid!)).toBeNull();
    expect(await workspace.listServed()).toEqual([]);
  });

  test('a server that was taken over is watched, too', async () => {
    await (await workspace.start()).kill();
    const second = await workspace.start();
    const pid = await pidIn(workspace.dataDir);
    process.kill(pid!, 'SIGKILL');
    await waitUntil('another server is up', async () => {
      const pidFile = await readPidFile(join(workspace.dataDir, 'postgres', 'data'));
      return pidFile !== null && pidFile.pid !== pid && pidFile.status === 'ready';
    });
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a server that was started in another way is replaced', async () => {
    const first = await workspace.start();
    await query(first.connection, 'create table note as select 1 as one');
    const pid = await pidIn(workspace.dataDir);
    await first.kill();
    const movedTo = join(workspace.folder, 'moved');
    await rename(workspace.dataDir, movedTo);

    const second = await workspace.start({ dataDir: movedTo });
    expect(await pidIn(movedTo)).not.toBe(pid);
    expect(await readCommandLine(pid!)).toBeNull();
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
  });

  test('a killed server as well: the data is recovered', async () => {
    const first = await workspace.start();
    await query(first.connection, 'create table note as select 1 as one');
    const pid = await pidIn(workspace.dataDir);
    await first.kill();
    process.kill(pid!, 'SIGKILL');
    const second = await workspace.start();
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
  });

  test('during initdb, the next start begins again and removes the remains', async () => {
    await rm(workspace.dataDir, { recursive: true });
    const child = workspace.launch();
    await waitUntil('initdb works', async () => (await names()).some(isUnfinished));
    await child.kill();
    expect(await names()).not.toContain('data');
    const second = await workspace.start();
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await waitUntil('the remains are gone', async () => !(await names()).some(isUnfinished));
  });

  test('at any moment of a start, the next start works', async () => {
    // From before the server is spawned to after it is ready, on an idle machine.
    for (let delayMs = 80; delayMs <= 260; delayMs += 20) {
      const child = workspace.launch();
      const begin = performance.now();
      await waitUntil('the moment has come', () => performance.now() - begin > delayMs);
      await child.kill();
    }
    const last = await workspace.start();
    expect(await query(last.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await workspace.listServed()).toHaveLength(1);
  });

  test('while a second instance uses the same DATA_DIR, nothing starts, and the error names the process', async () => {
    const first = await workspace.start();
    const holder = (await readFile(join(workspace.dataDir, 'lock'), 'utf8')).trim();
    expect(await workspace.startInVain()).toMatch(
      new RegExp(`in use by process ${holder}\\. Stop that process, or give this one a DATA_DIR of its own`),
    );
    expect(await query(first.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('the server left running does not hold the lock of DATA_DIR', async () => {
    const first = await workspace.start();
    await first.kill();
    expect(await pidIn(workspace.dataDir)).toBeDefined();
    await workspace.start();
  });
});
