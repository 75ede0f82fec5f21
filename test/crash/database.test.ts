/** The harness asks a server that a fault has just hit. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/connectors/embedded-postgres/server.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { Database } from './database.ts';
import { createRandom } from './random.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let database: Database;
beforeAll(async () => {
  folder = await makeTempFolder();
  const dataDir = join(folder.path, 'server');
  server = await startEmbeddedPostgres({ dataDir, logger: silentLogger });
  database = new Database(dataDir);
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

it('waits until the server has recovered, which answers once more before it notices that a process of it was killed', async () => {
  for (let round = 0; round < 3; round++) {
    const client = await database.connect();
    await database.killBackend(createRandom(1, round));
    for (let asked = 0; asked < 20; asked++)
      expect(await database.query('select 1 as it')).toEqual([{ it: 1 }]);
    await client.end().catch(() => undefined);
  }
});

it('reports a fault of a statement at once', async () => {
  await expect(database.query('select no_such_column')).rejects.toThrow('no_such_column');
});
