/** A database, a DATA_DIR and the commands that work on them, with mail of all kinds. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { runCommandInProcess } from './command-in-process.ts';
import { mailOf, writeMails } from './mail-folders.ts';
import { addressForService, type TestDatabase } from './postgres.ts';
import { IDENTITY_NAME } from '../../src/connectors/blob/identity.ts';
import { makeTempFolder } from './temp-folder.ts';

export interface BackupWorld {
  readonly database: TestDatabase;
  /** Contains `data`, which is DATA_DIR. */
  readonly folder: string;
  run(...args: readonly string[]): ReturnType<typeof runCommandInProcess>;
  /** The same with other environment variables. */
  runWith(
    env: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): ReturnType<typeof runCommandInProcess>;
  /** The files in its storage. */
  files(): Promise<readonly string[]>;
  end(): Promise<void>;
}

export async function createBackupWorld(database: TestDatabase): Promise<BackupWorld> {
  const temp = await makeTempFolder();
  const dataDir = path.join(temp.path, 'data');
  const runWith: BackupWorld['runWith'] = (env, ...args) =>
    runCommandInProcess(args, {
      dataDir,
      env: { DATABASE_URL: addressForService(database.connectionString), ...env },
    });
  return {
    database,
    folder: temp.path,
    run: (...args) => runWith({}, ...args),
    runWith,
    // The identity of a storage is its own: a restore leaves it to the next start.
    files: async () =>
      (await listFiles(path.join(dataDir, 'files'))).filter((name) => name !== IDENTITY_NAME),
    async end() {
      await database.drop();
      await temp.remove();
    },
  };
}

/** For each number a large raw message, one with an attachment, and one with characters that COPY has to escape. */
export async function importMail(world: BackupWorld, numbers: readonly number[]): Promise<void> {
  const mails = numbers.flatMap((number) => {
    const [header = ''] = mailOf(number * 10, 0).split('\n\n');
    return [
      mailOf(number * 10 + 1, 0, `${number} `.repeat(50_000)),
      `${header}\nContent-Type: application/pdf; name="a ü\\"b\\".pdf"\n\ncontent ${number}\n`,
      mailOf(number * 10 + 2, 0, 'tab\there, a \\ and \\N, \u{1f600}\u0007'),
    ];
  });
  const folder = path.join(world.folder, `mails-${randomUUID()}`);
  await writeMails(folder, mails);
  expect(await world.run('import', folder)).toMatchObject({ exitCode: 0 });
}

/** All files below a folder, with their paths relative to it. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
