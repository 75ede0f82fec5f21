import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EmbeddedWorkspace, createEmbeddedWorkspace } from '../../../test/helpers/embedded-workspace.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { readCommandLine, readPidFile } from './postmaster.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './server.ts';

describe('the embedded PostgreSQL', () => {
  /** Shared by all tests: each test leaves a database with which the next one starts. */
  let workspace: EmbeddedWorkspace;
  let server: EmbeddedPostgres | null = null;

  beforeAll(async () => {
    workspace = await createEmbeddedWorkspace();
  });
  afterEach(async () => {
    await server?.stop();
    server = null;
  });
  afterAll(() => workspace.dispose());

  const start = async (dataDir = workspace.dataDir, logger = silentLogger) => {
    server = await startEmbeddedPostgres({ dataDir, logger });
    return server.connection;
  };
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  const dataFolder = () => join(workspace.dataDir, 'postgres', 'data');
  const pid = async () => (await readPidFile(dataFolder()))!.pid;

  test('keeps its data over an orderly stop', async () => {
    await query(await start(), `create table greeting as select 'Grüße' as text`);
    await stop();
    expect(await query(await start(), 'select text from greeting')).toEqual([{ text: 'Grüße' }]);
  });

  test('leaves no process and no pid file when it is stopped, however often', async () => {
    await start();
    const running = await pid();
    await Promise.all([server!.stop(), server!.stop()]);
    expect(await readCommandLine(running)).toBeNull();
    expect(await workspace.listServed()).toEqual([]);
  });

  test('writes durably, listens on no network, and folds the case of all scripts', async () => {
    const connection = await start();
    const rows = await query(
      connection,
      `select name, setting from pg_settings
       where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'server_encoding')
       order by name`,
    );
    expect(rows).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'listen_addresses', setting: '' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'synchronous_commit', setting: 'on' },
    ]);
    expect(await query(connection, `select lower('ÄÖÜΣЖ') as text`)).toEqual([{ text: 'äöüσж' }]);
  });

  test('closes its folders to all other users', async () => {
    const { host } = await start();
    for (const folder of [join(workspace.dataDir, 'postgres'), dataFolder(), host]) {
      expect((await stat(folder)).mode & 0o077).toBe(0);
    }
  });

  test('ignores environment variables that PostgreSQL would read', async () => {
    vi.stubEnv('PGDATA', '/nonexistent');
    vi.stubEnv('PGPORT', '1');
    vi.stubEnv('LC_ALL', 'xx_XX.nonsense');
    try {
      expect(await query(await start(), 'show data_directory')).toEqual([{ data_directory: dataFolder() }]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('moves its socket to a private folder when the path of DATA_DIR is too long for one', async () => {
    const dataDir = join(workspace.folder, 'long-'.repeat(30));
    const connection = await start(dataDir);
    expect(connection.host.startsWith(workspace.folder)).toBe(false);
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await stop();
    await expect(stat(connection.host)).rejects.toThrow('ENOENT');
  });

  test('takes any characters in the path of DATA_DIR', async () => {
    const connection = await start(join(workspace.folder, `it's, "odd" -D ü`));
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is started again under the same address when it is killed', async () => {
    const errors: string[] = [];
    const connection = await start(workspace.dataDir, {
      ...silentLogger,
      error: (_, message) => errors.push(message),
    });
    await query(connection, 'create table note as select 1 as one');
    const first = await pid();
    process.kill(first, 'SIGKILL');
    await waitUntil('the server is up again', async () => {
      const pidFile = await readPidFile(dataFolder());
      return pidFile !== null && pidFile.pid !== first && pidFile.status === 'ready';
    });
    expect(await query(connection, 'select one from note')).toEqual([{ one: 1 }]);
    expect(errors).toEqual(['the embedded PostgreSQL ended']);
  });

  test('stops while it is being started again', async () => {
    await start();
    const first = await pid();
    process.kill(first, 'SIGKILL');
    await waitUntil('the server is gone', async () => (await readCommandLine(first)) === null);
    await stop();
    const left = await readPidFile(dataFolder());
    expect(left === null ? null : await readCommandLine(left.pid)).toBeNull();
  });

  test('starts despite a pid file whose pid belongs to another program by now, and leaves that program alone', async () => {
    await start();
    await stop();
    const stranger = spawn('sleep', ['600']);
    try {
      await once(stranger, 'spawn');
      const lines = [stranger.pid, dataFolder(), 1, 5432, join(workspace.dataDir, 'run'), '', '', 'ready'];
      await writeFile(join(dataFolder(), 'postmaster.pid'), lines.join('\n'));
      expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
      await stop();
      expect(stranger.exitCode).toBeNull();
      expect(stranger.signalCode).toBeNull();
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test.each(['', '\n\n', 'garbage', '99999999\n'])('starts over a broken pid file: %j', async (text) => {
    await start();
    await stop();
    await writeFile(join(dataFolder(), 'postmaster.pid'), text);
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('refuses data of another major version, and names both versions and the way out', async () => {
    await start();
    await stop();
    const file = join(dataFolder(), 'PG_VERSION');
    const version = await readFile(file);
    await writeFile(file, '15\n');
    await expect(start()).rejects.toThrow(/PostgreSQL 15, and this is PostgreSQL 18.*DATABASE_URL/);
    await writeFile(file, version);
  });

  test('passes on the message of a server that does not start', async () => {
    await start();
    await stop();
    const [needed, hidden] = [join(dataFolder(), 'global'), join(dataFolder(), 'hidden')];
    await rename(needed, hidden);
    await expect(start()).rejects.toThrow(/ended at its start: .*global.*DATABASE_URL/s);
    await rename(hidden, needed);
  });

  test('writes the log of the server into a file for its owner only', async () => {
    await start();
    const file = join(workspace.dataDir, 'postgres', 'server.log');
    expect(await readFile(file, 'utf8')).toContain('ready to accept connections');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('makes DATA_DIR when it is missing, closed to all other users', async () => {
    const dataDir = join(workspace.folder, 'new', 'data');
    expect(await query(await start(dataDir), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  test('leaves the permissions of an existing DATA_DIR as they are', async () => {
    await start();
    await stop();
    await chmod(workspace.dataDir, 0o750);
    await start();
    expect((await stat(workspace.dataDir)).mode & 0o777).toBe(0o750);
  });
});
