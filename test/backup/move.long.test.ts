/** Moving a database between the embedded server and another one, with and without an interruption. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { markDatabase } from '../../src/platform/db/migrate.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { onEmbedded } from '../helpers/embedded-database.ts';
import { mailOf, writeMails } from '../helpers/mail-folders.ts';
import { createEmptyDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let folder: TempFolder;
let database: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  [folder, database] = await Promise.all([makeTempFolder(), createEmptyDatabase()]);
  dataDir = path.join(folder.path, 'data');
  await mkdir(dataDir);
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

/** Runs a command on the embedded server, or on the external one. */
const run = (where: 'embedded' | 'external', ...args: readonly string[]) =>
  runCommandInProcess(args, {
    dataDir,
    env: where === 'external' ? { DATABASE_URL: database.connectionString } : {},
  });

let count = 0;
async function importOne(where: 'embedded' | 'external') {
  count += 1;
  const mails = path.join(folder.path, `mail-${count}`);
  await writeMails(mails, [mailOf(count, 0)]);
  return await run(where, 'import', mails);
}

it('goes there and back, and is used in one place alone', async () => {
  expect(await importOne('embedded')).toMatchObject({ exitCode: 0 });
  const before = await onEmbedded(dataDir, (url) => readEverything(url));
  const moved = await run('embedded', 'move', '--to', database.connectionString);
  expect(moved).toMatchObject({ exitCode: 0, stderr: '' });
  expect(moved.stdout).toMatch(/rows moved\nNow set DATABASE_URL/);
  expect(await readEverything(database.connectionString)).toEqual(before);
  // The feed continues from where it was.
  const clock = 'select position, forgotten, lost from event_clock';
  expect(await query(database.connectionString, clock)).toEqual(
    await onEmbedded(dataDir, (url) => query(url, clock)),
  );

  expect(await importOne('embedded')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('The database was moved to another server'),
  });
  expect((await run('embedded', 'move', '--to', database.connectionString)).stderr).toContain(
    'moved away already',
  );
  expect(await importOne('external')).toMatchObject({ exitCode: 0 });

  const there = await readEverything(database.connectionString);
  expect(there['emails']).toHaveLength(2);
  const back = await run('external', 'move', '--to', 'embedded');
  expect(back).toMatchObject({ exitCode: 0, stderr: '' });
  expect(back.stdout).toContain('Now remove DATABASE_URL');
  expect(await onEmbedded(dataDir, (url) => readEverything(url))).toEqual(there);
  expect(await importOne('external')).toMatchObject({ exitCode: 1 });
  expect(await importOne('embedded')).toMatchObject({ exitCode: 0 });
});

it('is finished by the same command after an interruption, or given up', async () => {
  const other = await createEmptyDatabase();
  // The files of the other test belong to its database.
  const files = path.join(folder.path, 'interrupted');
  await mkdir(files);
  const run = (url: string, ...args: readonly string[]) =>
    runCommandInProcess(args, { dataDir: files, env: { DATABASE_URL: url } });
  const mark = async (which: TestDatabase, name: 'moving' | 'unfinished_restore' | null) => {
    const pool = createTestPool(which, 1);
    await markDatabase(pool, name);
    await pool.end();
  };
  const source = await createEmptyDatabase();
  try {
    const mails = await writeMails(path.join(folder.path, 'others'), [mailOf(100, 0), mailOf(100, 1)]);
    expect(await run(source.connectionString, 'import', mails)).toMatchObject({ exitCode: 0 });
    // One more import is tried, and one more is noted, before the database is moved.
    const changed = ['imports'];
    const before = await readEverything(source.connectionString, changed);

    // Killed before the rows had arrived: neither is used.
    await mark(source, 'moving');
    await mark(other, 'unfinished_restore');
    for (const { connectionString } of [source, other])
      expect(await run(connectionString, 'import', mails)).toMatchObject({ exitCode: 1 });
    expect(await run(source.connectionString, 'move', '--cancel')).toMatchObject({ exitCode: 0 });
    expect(await run(source.connectionString, 'import', mails)).toMatchObject({ exitCode: 0 });
    expect(await run(source.connectionString, 'move', '--cancel')).toMatchObject({ exitCode: 1 });
    await mark(source, 'moving');
    const finished = await run(source.connectionString, 'move', '--to', other.connectionString);
    expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readEverything(other.connectionString, changed)).toEqual(before);

    // Killed between the last row and the mark that says so.
    await mark(source, 'moving');
    const again = await run(source.connectionString, 'move', '--to', other.connectionString);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toContain('the earlier move of the database is now complete');
    expect(await run(source.connectionString, 'import', mails)).toMatchObject({ exitCode: 1 });

    // A database with other contents is never overwritten.
    await mark(source, null);
    const refused = await run(source.connectionString, 'move', '--to', other.connectionString);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('holds 2 emails') });
    expect(await run(source.connectionString, 'import', mails)).toMatchObject({ exitCode: 0 });
  } finally {
    await source.drop();
    await other.drop();
  }
});

it('refuses what is no target', async () => {
  expect(await run('embedded', 'move')).toMatchObject({ exitCode: 2 });
  expect(await run('embedded', 'move', '--to', 'embedded')).toMatchObject({ exitCode: 2 });
  expect(await run('embedded', 'move', '--to', 'mysql://x/y')).toMatchObject({ exitCode: 2 });
  expect(await run('external', 'move', '--to', database.connectionString)).toMatchObject({ exitCode: 2 });
});
