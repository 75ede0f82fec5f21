/** Transfers between the oldest installed PostgreSQL and the embedded one: by a backup and by a move, in both directions. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { onEmbedded } from '../helpers/embedded-database.ts';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../helpers/external-postgres.ts';
import { mailOf, writeMails } from '../helpers/mail-folders.ts';
import { query } from '../helpers/query.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

describe.skipIf(skipWithoutExternalPostgres())('another major version of PostgreSQL', () => {
  let folder: TempFolder;
  let external: ExternalPostgres;
  beforeAll(async () => {
    [folder, external] = await Promise.all([makeTempFolder(), createExternalPostgres()]);
  });
  afterAll(async () => {
    await external.dispose();
    await folder.remove();
  });

  const dataDirOf = (name: string) => path.join(folder.path, name);
  const run = (name: string, url: string | null, ...args: readonly string[]) =>
    runCommandInProcess(args, { dataDir: dataDirOf(name), env: url === null ? {} : { DATABASE_URL: url } });

  const readEmbedded = (name: string) =>
    onEmbedded(dataDirOf(name), async (url) => {
      const [row] = await query(url, 'show server_version_num');
      return { version: Number(row?.['server_version_num']), rows: await readEverything(url) };
    });

  it('gets every row, and gives it back', async () => {
    const mails = await writeMails(
      path.join(folder.path, 'mails'),
      [0, 1, 2].map((position) => mailOf(1, position, `\u00e4 \\ \t ${'x'.repeat(position * 100_000)}`)),
    );
    expect(await run('old', external.url, 'import', mails)).toMatchObject({ exitCode: 0 });
    const [old] = await query(external.url, 'show server_version_num');
    const before = await readEverything(external.url);
    expect(before['emails']).toHaveLength(3);

    const place = path.join(folder.path, 'place');
    expect(await run('old', external.url, 'backup', place)).toMatchObject({ exitCode: 0 });
    const restored = await run('new', null, 'restore', place, '--send-waiting');
    expect(restored).toMatchObject({ exitCode: 0, stderr: '' });
    const embedded = await readEmbedded('new');
    expect(embedded.version).toBeGreaterThan(Number(old?.['server_version_num']));
    expect(embedded.rows).toEqual(before);

    await query(external.url, 'drop schema email_worker cascade');
    expect(await run('new', null, 'move', '--to', external.url)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readEverything(external.url)).toEqual(before);
    expect(await run('new', external.url, 'move', '--to', 'embedded')).toMatchObject({ exitCode: 0 });
    expect((await readEmbedded('new')).rows).toEqual(before);
  });
});
