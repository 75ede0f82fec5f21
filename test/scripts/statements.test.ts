/** scripts/statements.mjs: its messages when the schema and the statements do not match. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** Inside the repository, so that the modules find their packages. */
const DIST = path.join(ROOT, 'node_modules', '.cache', `statements-test-${process.pid}`);

/** The output of the schema and of plans is that of the embedded server's version. */
const isOtherServer = process.env['TEST_DATABASE_URL'] !== undefined;

type Places = ReadonlyMap<string, { readonly file: string; readonly line: number }>;
type Load = (dist: string, places: Places) => Promise<unknown>;
type Describe = (
  client: pg.Client,
  loaded: unknown,
  places: Places,
) => Promise<{
  readonly statements: readonly { readonly name: string }[];
  readonly faults: readonly string[];
}>;

const script = (name: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(path.join(ROOT, 'scripts', 'statements', name)).href);

let database: TestDatabase;
let client: pg.Client;
let places: Places;
let describeAll: () => ReturnType<Describe>;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client(database.connectionConfig);
  await client.connect();
  const { compile } = (await script('compile.mjs')) as { compile: (root: string, dist: string) => string };
  const { findStatements } = (await script('sources.mjs')) as {
    findStatements: (folder: string) => { places: Places };
  };
  const describing = (await script('describe.mjs')) as { loadStatements: Load; describeAll: Describe };
  ({ places } = findStatements(path.join(ROOT, 'src')));
  const loaded = await describing.loadStatements(compile(ROOT, DIST), places);
  describeAll = () => describing.describeAll(client, loaded, places);
});
afterAll(async () => {
  await client.end();
  await database.drop();
  await rm(DIST, { recursive: true, force: true });
});

it.skipIf(isOtherServer)('docs/schema.sql is the schema that the migrations make', async () => {
  const { renderSchema } = (await script('schema-sql.mjs')) as {
    renderSchema: (client: pg.Client) => Promise<string>;
  };
  expect(await readFile(path.join(ROOT, 'docs', 'schema.sql'), 'utf8')).toBe(await renderSchema(client));
});

it('a migration that fails is told in one line, before the server stops', async () => {
  const dist = path.join(DIST, 'broken');
  const steps: { readonly isEnded: boolean }[] = [];
  Object.assign(globalThis, { steps, connection: database.connectionConfig });
  for (const [file, text] of Object.entries({
    'connectors/embedded-postgres/server.js':
      'export const startEmbeddedPostgres = async () => ({ connection, stop: async () => steps.push({ isEnded: pool.ended }) });',
    'platform/db/session.js': 'export const DEFAULT_SCHEMA = "public";',
    'platform/db/migrate.js': `export async function migrateToLatest(pool) {
      globalThis.pool = pool;
      await pool.query('select missing').catch((cause) => { throw new Error('not migrated', { cause }); });
    }`,
  })) {
    const target = path.join(dist, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  const { withDatabase } = (await script('fresh-database.mjs')) as {
    withDatabase: (dist: string, work: () => Promise<unknown>) => Promise<unknown>;
  };
  await expect(withDatabase(dist, async () => null)).rejects.toThrow(
    /migrations: the schema can't be made: column "missing" does not exist$/,
  );
  expect(steps).toEqual([{ isEnded: true }]);
  for (const name of ['steps', 'connection', 'pool']) Reflect.deleteProperty(globalThis, name);
});

describe.skipIf(isOtherServer)('the check of statements', () => {
  it('finds nothing in those that fit', async () => {
    const { statements, faults } = await describeAll();
    expect(faults).toEqual([]);
    expect(statements.map(({ name }) => name)).toEqual([...places.keys()].sort());
  });

  it('names every statement that uses a column which has another name, with its place', async () => {
    await client.query('alter table emails rename column subject to title');
    const { faults } = await describeAll();
    await client.query('alter table emails rename column title to subject');
    const { file, line } = places.get('read-email')!;
    expect(faults).toContainEqual(
      expect.stringContaining(`${file}:${line}: read-email: column e.subject does not exist`),
    );
    const named = faults.map((fault) => fault.split(': ')[1]);
    expect(named).toEqual(expect.arrayContaining(['read-email', 'search-read', 'list-threads']));
    expect(named).not.toContain('read-attachment');
  });
});
