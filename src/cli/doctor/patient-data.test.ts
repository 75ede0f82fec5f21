import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { loadConfig } from '../../config/config.ts';
import { openPatientData, type Database } from './patient-data.ts';

let folder: TempFolder;
beforeEach(async () => {
  folder = await makeTempFolder();
});
afterEach(() => folder.remove());

/** A database in another place, which a file in DATA_DIR names. */
async function findDatabase(initialised: boolean): Promise<Database> {
  const place = path.join(folder.path, 'elsewhere');
  await mkdir(place);
  await writeFile(
    path.join(folder.path, 'postgres-place.json'),
    `${JSON.stringify({ folder: place, initialised })}\n`,
  );
  const config = loadConfig({ DATA_DIR: folder.path }, folder.path);
  const data = await openPatientData(config, silentLogger, new AbortController().signal);
  try {
    return await data.database;
  } finally {
    await data.close();
  }
}

it('has no database when a first start was cut short', async () => {
  expect(await findDatabase(false)).toEqual({ kind: 'none' });
});

it('tells of a database that was there and is gone', async () => {
  expect(await findDatabase(true)).toEqual({ kind: 'away', reason: expect.stringContaining('is not there') });
});
