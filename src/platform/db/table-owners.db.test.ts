/** Each table is written by one module or area; where concerns share its rows, so is each column. See docs/architecture.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { allSources } from '../../../test/helpers/sources.ts';

const DOCS = path.join(import.meta.dirname, '../../../docs');
const ARCHITECTURE = path.join(DOCS, 'architecture.md');
const SCHEMA = path.join(DOCS, 'schema.sql');
const MIGRATIONS = 'platform/db/migrations/';
/** Files of the API, whose texts have words of SQL, too. */
const WITHOUT_SQL = /(?:operations|-routes?|-schemas?)\.ts$/;
/** Stands for the table of a statement whose table name is assembled: only a restore has such statements. */
const EVERY_TABLE = 'every table';

/** Columns of existing rows, and the modules that write them beside the table's own. The architecture gives the reasons. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['emails.state', 'emails/write-emails'],
  ['emails.state_detail', 'emails/write-emails'],
  ['emails.took_ms', 'emails/write-emails'],
  ['drafts', 'send/sent-drafts'],
  ['drafts.sending_id', 'send/sent-drafts'],
  ['mailbox_messages.email_id', 'send/merged-messages'],
]);

/** Cuts the text at the commas outside parentheses, up to the end of the assignments. */
function assignments(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let cases = 0;
  let part = '';
  for (const [token] of text.matchAll(/\w+|\W/g)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (token === 'case') cases += 1;
    if (token === 'end') cases -= 1;
    if (depth < 0 || token === '`' || token === ';') break;
    if (depth + cases === 0 && ['from', 'where', 'returning'].includes(token)) break;
    if (depth + cases === 0 && token === ',') {
      parts.push(part);
      part = '';
    } else {
      part += token;
    }
  }
  return [...parts, part];
}

/**
 * The tables and columns that the statements of a source write. An assembled table counts as EVERY_TABLE, assembled columns by their source
 * text.
 */
function writesOf(source: string): readonly string[] {
  const text = source.replaceAll(/^\s*(?:\/\/|--|\*|\/\*).*$/gm, '');
  const found: string[] = [];
  for (const [, table] of text.matchAll(
    /\b(?:insert into|delete from|merge into|truncate(?: table)?|copy(?= [^`;]*? from stdin\b)) ([a-z0-9_]+|\$\{)/g,
  ))
    found.push(table === undefined || table === '${' ? EVERY_TABLE : table);
  const setters = [
    ...text.matchAll(/\bupdate ([a-z0-9_]+)(?: (?:as )?[a-z])? set (?=[a-z$({])/g),
    ...text.matchAll(/\bdo update set (?=[a-z$({])/g),
  ];
  for (const { index, 0: start, 1: named } of setters) {
    // An upsert names its table at the start of the insert.
    const table = named ?? /.*\binsert into ([a-z0-9_]+)/s.exec(text.slice(0, index))?.[1];
    for (const assignment of assignments(text.slice(index + start.length))) {
      const column = /^\s*([a-z_]+)\s*=/.exec(assignment)?.[1];
      found.push(`${table}.${column ?? assignment.trim()}`);
    }
  }
  return found;
}

/**
 * Written table (`emails`, for rows) or column (`emails.state`, for columns of existing rows) → the modules that write it.
 * @param folder of the modules, whose names are those below it: the areas and all others, or the migrations
 */
function readWriters(
  folder: 'areas/' | typeof MIGRATIONS = 'areas/',
): ReadonlyMap<string, readonly string[]> {
  const writers = new Map<string, Set<string>>();
  for (const { file, text } of allSources()) {
    if (WITHOUT_SQL.test(file) || file.startsWith(MIGRATIONS) !== (folder === MIGRATIONS)) continue;
    const module = (file.startsWith(folder) ? file.slice(folder.length) : file).replace(/\.ts$/, '');
    for (const written of writesOf(text)) {
      writers.set(written, (writers.get(written) ?? new Set()).add(module));
    }
  }
  return new Map([...writers].map(([written, files]) => [written, [...files]]));
}

const readSection = (): string => {
  const [, section = ''] = readFileSync(ARCHITECTURE, 'utf8').split('## Which module writes what\n');
  return section.split('\n## ')[0] ?? '';
};

/** The rows of the table in the architecture: the table, the module of its rows, and the columns that other modules write. */
function readOwners(): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const line of readSection().split('\n')) {
    const [, table, module, others = ''] =
      /^\| `?([a-z0-9_]+|every table)`? +\| `([a-z0-9/-]+)` +\|(.*)\|$/.exec(line) ?? [];
    if (table === undefined || module === undefined) continue;
    owners.set(table, module);
    for (const [, columns = '', other = ''] of others.matchAll(/((?:`[a-z_]+`(?:, )?)+): `([a-z0-9/-]+)`/g)) {
      for (const [, column] of columns.matchAll(/`([a-z_]+)`/g)) owners.set(`${table}.${column}`, other);
    }
  }
  return owners;
}

/** The second table of the architecture: the tables and columns that the schema writes, and the migration modules that do. */
function readSchemaWriters(): ReadonlyMap<string, readonly string[]> {
  const writers = new Map<string, readonly string[]>();
  for (const [, written = '', modules = ''] of readSection().matchAll(
    /^\| `([a-z0-9_.]+)` +\| ((?:`0001_schema\/[a-z-]+`(?:, )?)+) +\|/gm,
  ))
    writers.set(
      written,
      [...modules.matchAll(/`([^`]+)`/g)].map(([, module = '']) => module),
    );
  return writers;
}

/** @param owner a module, or an area, which ends with a slash */
const owns = (owner: string, module: string) =>
  owner.endsWith('/') ? module.startsWith(owner) : owner === module;

describe('statements that write', () => {
  it('are found with their tables and columns', () => {
    expect(
      writesOf(`
        insert into a (x) select 1; delete from b_2 where x = 1;
        update c as d set x = coalesce(d.y, d.z), y = case when d.x then 1 else 2 end, z = 3 from e where d.w = 1;
        select from f for update; insert into i (x) values (1) on conflict (x) do update set y = 2; truncate g; copy h (x, y) from stdin; copy (select 1) to stdout;
        \`truncate \${tables}\`, \`copy \${table} (\${columns}) from stdin (freeze)\`
      `),
    ).toEqual(['a', 'b_2', 'i', 'g', 'h', EVERY_TABLE, EVERY_TABLE, 'c.x', 'c.y', 'c.z', 'i.y']);
  });

  it('of one table, or of columns that others do not write, stand in one module', () => {
    const owners = readOwners();
    const wrong: string[] = [];
    for (const [written, modules] of readWriters()) {
      const [table = ''] = written.split('.');
      const owner = owners.get(written) ?? owners.get(table);
      for (const module of modules) {
        const isOwner = [owner, EXCEPTIONS.get(written)].some(
          (one) => one !== undefined && owns(one, module),
        );
        if (!isOwner) wrong.push(`${written}: ${module}, not ${owner}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are excepted for as long as they are there, and the architecture says so', () => {
    const [, sentence = ''] = /\nThe exceptions: ([^]+?)\n\n/.exec(readSection()) ?? [];
    const writers = readWriters();
    for (const [written, module] of EXCEPTIONS) {
      expect(writers.get(written)).toContain(module);
      expect(sentence).toContain(`\`${module}\``);
      expect(sentence).toContain(`\`${written.split('.').at(-1)}\``);
    }
  });

  it('of the schema are all told of', () => {
    const owners = readOwners();
    const written = [...readWriters(MIGRATIONS)].map(([key, modules]) => {
      const [table = ''] = key.split('.');
      // A column is listed if a module owns it.
      return [owners.has(key) ? key : table, modules] as const;
    });
    const expected = new Map<string, Set<string>>();
    for (const [key, modules] of written)
      for (const module of modules) expected.set(key, (expected.get(key) ?? new Set()).add(module));
    expect(Object.fromEntries(readSchemaWriters())).toEqual(
      Object.fromEntries([...expected].map(([key, modules]) => [key, [...modules].sort()])),
    );
  });

  it('are told of for every table', () => {
    const tables = [...readFileSync(SCHEMA, 'utf8').matchAll(/^create table (\w+) \(/gm)].map(
      ([, table = '']) => table,
    );
    const told = new Set([...readOwners().keys(), ...readSchemaWriters().keys()]);
    expect(tables.length).toBeGreaterThan(70);
    expect(tables.filter((table) => !told.has(table))).toEqual([]);
  });

  it('are in every module that the architecture names', () => {
    const writers = readWriters();
    for (const [written, module] of readOwners()) {
      const found = [...writers].filter(
        ([key]) => key === written || (!written.includes('.') && key.startsWith(`${written}.`)),
      );
      expect(
        found.some(([, modules]) => modules.some((one) => owns(module, one))),
        written,
      ).toBe(true);
    }
  });
});
