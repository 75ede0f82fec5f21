/** docs/scale.md places every table of the schema, and its statements about their keys are true. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from './helpers/postgres.ts';

interface Placed {
  readonly table: string;
  readonly placement: string;
  readonly hasAccount: string;
  readonly keysWithout: readonly string[];
}

const text = readFileSync(new URL('../docs/scale.md', import.meta.url), 'utf8');

/** The text between a heading and the next one. */
const section = (heading: string): string => {
  const begin = text.indexOf(`\n${heading}\n`);
  if (begin === -1) throw new Error(`docs/scale.md has no ${heading}`);
  const end = text.indexOf('\n#', begin + heading.length + 1);
  return text.slice(begin, end === -1 ? undefined : end);
};

const namesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

/** From the lines of a table whose first cell is a name. */
const placed: readonly Placed[] = section('### Where each table goes')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, table = '', placement = '', hasAccount = '', keys = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    return { table: namesIn(table)[0] ?? '', placement, hasAccount, keysWithout: namesIn(keys).toSorted() };
  });

interface Table {
  readonly name: string;
  readonly has_account: 'yes' | 'no' | 'may be null';
  readonly keys_without: readonly string[];
}

interface ForeignKey {
  readonly name: string;
  readonly from_table: string;
  readonly to_table: string;
  readonly has_account: boolean;
}

interface Trigger {
  readonly name: string;
  readonly on_table: string;
}

let database: TestDatabase;
let tables: readonly Table[];
let foreignKeys: readonly ForeignKey[];
let triggers: readonly Trigger[];

const placementOf = (table: string) => placed.find((one) => one.table === table)?.placement;

const OURS = `c.relnamespace = 'email_worker'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

beforeAll(async () => {
  database = await createTestDatabase();
  const client = new Client(database.connectionConfig);
  await client.connect();
  const read = async (sql: string) => (await client.query(sql)).rows;
  tables = await read(`select c.relname as name,
      coalesce((
        select case when a.attnotnull then 'yes' else 'may be null' end from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
      ), 'no') as has_account,
      array(
        select i.indexrelid::regclass::text from pg_index i
        where i.indrelid = c.oid and i.indisunique and not exists (
          select from pg_attribute a
          where a.attrelid = c.oid and a.attname = 'account_id' and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])
        ) order by 1
      ) as keys_without
    from pg_class c where ${OURS} order by 1`);
  foreignKeys =
    await read(`select k.conname as name, c.relname as from_table, k.confrelid::regclass::text as to_table,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id' and a.attnum = any (k.conkey)) as has_account
    from pg_constraint k join pg_class c on c.oid = k.conrelid where k.contype = 'f' and ${OURS} order by 1`);
  // Bit 0: row-level trigger.
  triggers =
    await read(`select t.tgname as name, c.relname as on_table from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgtype & 1 = 0 and ${OURS} order by 1`);
  await client.end();
});

afterAll(() => database.drop());

describe('docs/scale.md', () => {
  it('places every table once, and none that does not exist', () => {
    expect(placed.map(({ table }) => table).toSorted()).toEqual(tables.map(({ name }) => name));
  });

  it('knows three placements', () => {
    expect(new Set(placed.map(({ placement }) => placement))).toEqual(
      new Set(['account', 'reference', 'local']),
    );
  });

  it('says which tables have an account', () => {
    const said = new Map(placed.map(({ table, hasAccount }) => [table, hasAccount]));
    expect(tables.filter(({ name, has_account }) => said.get(name) !== has_account)).toEqual([]);
  });

  it('names, of the tables that are distributed by account, every unique key that lacks it', () => {
    const said = Object.fromEntries(placed.map(({ table, keysWithout }) => [table, keysWithout]));
    const found = tables.map(({ name, keys_without: keys }) => [
      name,
      placementOf(name) === 'account' ? keys : [],
    ]);
    expect(said).toEqual(Object.fromEntries(found));
  });

  it('counts these tables and keys', () => {
    const byAccount = tables.filter(({ name }) => placementOf(name) === 'account');
    const lacking = byAccount.flatMap(({ keys_without: keys }) => keys);
    const without = byAccount.filter(({ has_account: has }) => has === 'no');
    expect(section('### Where each table goes')).toContain(
      `${byAccount.length} of ${tables.length} tables are distributed by account. ${without.length} of them have no \`account_id\` yet, and ` +
        `${lacking.length} unique keys lack it.`,
    );
  });

  it('names every foreign key between distributed tables that has the account, and counts the others', () => {
    const between = foreignKeys.filter(
      ({ from_table: from, to_table: to }) =>
        placementOf(from) === 'account' && placementOf(to) === 'account',
    );
    const having = between.filter(({ has_account: has }) => has).map(({ name }) => name);
    const said = section('### Foreign keys');
    expect(namesIn(/Have it: (.*)/.exec(said)?.[1] ?? '').toSorted()).toEqual(having);
    expect(said).toContain(`The other ${between.length - having.length} lack it.`);
  });

  it('names every foreign key that no placement allows as it is', () => {
    const refused = foreignKeys.filter(
      ({ from_table: from, to_table: to }) =>
        placementOf(from) !== 'account' && placementOf(to) === 'account',
    );
    const said = /Must go: (.*)/.exec(section('### Foreign keys'))?.[1] ?? '';
    expect(namesIn(said).toSorted()).toEqual(refused.map(({ name }) => name));
  });

  it('names every table that has triggers for whole statements', () => {
    const said = /Triggers for whole statements are on (.*)/.exec(section('### Triggers'))?.[1] ?? '';
    expect(namesIn(said).toSorted()).toEqual(
      [...new Set(triggers.map(({ on_table: table }) => table))].toSorted(),
    );
  });

  it('names statements that exist', () => {
    const folder = path.join(import.meta.dirname, '../src/adapters/postgres');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(path.join(folder, file), 'utf8'));
    const known = new Set(
      sources.flatMap((source) =>
        [...source.matchAll(/\bstatements?\(\s*'([a-z0-9-]+)'/g)].map(([, name]) => name),
      ),
    );
    const said = ['### Statements', '### Advisory locks']
      .flatMap((heading) => [...section(heading).matchAll(/`([a-z0-9]+(?:-[a-z0-9]+)+)`/g)])
      .map(([, name]) => name);
    expect(said.length).toBeGreaterThan(20);
    expect(said.filter((name) => !known.has(name))).toEqual([]);
  });
});
