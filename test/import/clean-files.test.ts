/** Files to which no email refers: the use case on a real database and folder, and the command. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderBlobStore } from '../../src/connectors/blob/folder.ts';
import { createFileReferences } from '../../src/areas/emails/file-references.ts';
import { cleanFiles } from '../../src/platform/files/clean-files.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { mailOf, writeMails } from '../helpers/mail-folders.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { createTestPool } from '../helpers/test-pool.ts';

let temp: TempFolder;
let database: TestDatabase;
beforeEach(async () => {
  [temp, database] = await Promise.all([makeTempFolder(), createTestDatabase()]);
});
afterEach(async () => {
  await database.drop();
  await temp.remove();
});

const run = (...args: readonly string[]) =>
  runCommandInProcess(args, { dataDir: temp.path, env: { DATABASE_URL: database.connectionString } });

/** Two emails with a file each: a raw message and an attachment. */
async function importWithFiles(): Promise<string[]> {
  const [header = ''] = mailOf(2, 0).split('\n\n');
  const attached = `${header}\nContent-Type: application/pdf; name=a.pdf\n\ncontent\n`;
  const mails = await writeMails(path.join(temp.path, 'mails'), [
    mailOf(1, 0, 'x'.repeat(100_000)),
    attached,
  ]);
  expect(await run('import', mails)).toMatchObject({ exitCode: 0 });
  const rows = await query(
    database.connectionString,
    'select raw_path as path from emails where raw_path is not null union all select storage_path from email_attachments',
  );
  return rows.map(({ path: stored }) => String(stored)).sort();
}

it('those that are old enough are deleted, and nothing else', async () => {
  const referenced = await importWithFiles();
  expect(referenced).toHaveLength(2);
  const blobs = await FolderBlobStore.open(path.join(temp.path, 'files'), true);
  const put = async (name: string) => {
    await blobs.put(name, { kind: 'bytes', bytes: Buffer.from('left over') });
    return name;
  };
  const [lost, kept] = [randomUUID(), randomUUID()];
  // Beside the file of a record, for an email without a record, and a raw message without one
  const leftOver = [
    await put(`default/${path.basename(path.dirname(referenced[1] ?? ''))}/other.pdf`),
    await put(`default/${lost}/a b.pdf`),
    await put(`_raw/default/${lost}.eml`),
  ];
  const foreign = [await put('notes.txt'), await put(`default/not-an-id/x`), await put(`_raw/${lost}.eml`)];
  const waiting = [await put(`default/${kept}/x.pdf`), await put(`_raw/default/${kept}.eml`)];

  const pool = createTestPool(database, 1);
  const clean = async (hoursLater: number, dryRun: boolean) => {
    const told: string[] = [];
    const result = await cleanFiles(
      {
        blobs,
        references: createFileReferences(pool),
        clock: () => new Date(Date.now() + hoursLater * 3_600_000),
        requireTime: () => Promise.resolve(),
      },
      {
        olderThanMs: 24 * 3_600_000,
        keep: new Set([kept]),
        dryRun,
        signal: new AbortController().signal,
        onFile: (file) => told.push(file.path),
      },
    );
    return { ...result, told: told.sort() };
  };
  const list = async () => {
    const files: string[] = [];
    for await (const file of blobs.list()) files.push(file.path);
    return files.sort();
  };
  const all = [...referenced, ...leftOver, ...foreign, ...waiting].sort();
  expect(await list()).toEqual(all);
  expect(await clean(23, false)).toMatchObject({ files: all.length, unreferenced: 0, foreign: 3, told: [] });
  expect((await clean(25, true)).told).toEqual([...leftOver].sort());
  expect(await list()).toEqual(all);
  const cleaned = await clean(25, false);
  expect(cleaned).toMatchObject({ unreferenced: 3, unreferencedBytes: 27, told: [...leftOver].sort() });
  expect(await list()).toEqual([...referenced, ...foreign, ...waiting].sort());
  expect((await clean(25, false)).told).toEqual([]);
  await pool.end();
});

it('the command leaves young files alone, and refuses nonsense', async () => {
  await importWithFiles();
  const blobs = await FolderBlobStore.open(path.join(temp.path, 'files'), true);
  const file = `default/${randomUUID()}/young.pdf`;
  await blobs.put(file, { kind: 'bytes', bytes: Buffer.from('young') });
  const result = await run('clean-files');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  expect(result.stdout).toBe('3 files, 0 deleted (0.0 MB), 0 not of this service\n');
  expect(await blobs.get(file)).not.toBeNull();
  expect(await run('clean-files', '--older-than', '0')).toMatchObject({ exitCode: 2 });
  expect(await run('clean-files', '--older-than', '-1')).toMatchObject({ exitCode: 2 });
});
