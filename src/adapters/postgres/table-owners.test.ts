/** Each table is written by one module or area; where concerns share its rows, so is each column. See docs/architecture.md. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const HERE = import.meta.dirname;
const ARCHITECTURE = path.join(HERE, '../../../docs/architecture.md');

/** Cut at the commas that stand in no parentheses, up to the end of the assignments. */
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

/** What the statements of a source write. Statements whose table or columns are put together are read after that. */
function writesOf(source: string): readonly string[] {
  const text = source.replaceAll(/^\s*(?:\/\/|--|\*|\/\*).*$/gm, '');
  const found: string[] = [];
  for (const [, table] of text.matchAll(/\b(?:insert into|delete from) ([a-z0-9_]+)/g))
    found.push(table ?? '');
  for (const { index, 0: start, 1: table } of text.matchAll(
    /\bupdate ([a-z0-9_]+)(?: (?:as )?[a-z])? set (?=[a-z$({])/g,
  )) {
    for (const assignment of assignments(text.slice(index + start.length))) {
      const column = /^\s*([a-z_]+)\s*=/.exec(assignment)?.[1];
      found.push(`${table}.${column ?? assignment.trim()}`);
    }
  }
  return found;
}

/** By what is written (`emails` for rows, `emails.state` for a column of rows that are there): the modules that do. */
function readWriters(): ReadonlyMap<string, readonly string[]> {
  const writers = new Map<string, Set<string>>();
  for (const file of readdirSync(HERE, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.ts') || /\.(?:test|generated)\.ts$/.test(file) || file.startsWith('db/migrations/'))
      continue;
    for (const written of writesOf(readFileSync(path.join(HERE, file), 'utf8'))) {
      writers.set(written, (writers.get(written) ?? new Set()).add(file.replace(/\.ts$/, '')));
    }
  }
  return new Map([...writers].map(([written, files]) => [written, [...files]]));
}

/** The rows of the table in the architecture: the table, the module of its rows, and what other modules write. */
function readOwners(): ReadonlyMap<string, string> {
  const [, section = ''] = readFileSync(ARCHITECTURE, 'utf8').split('## Which module writes what\n');
  const owners = new Map<string, string>();
  for (const line of section.split('\n## ')[0]?.split('\n') ?? []) {
    const [, table, module, others = ''] =
      /^\| `([a-z0-9_]+)` +\| `([a-z0-9/-]+)` +\|(.*)\|$/.exec(line) ?? [];
    if (table === undefined || module === undefined) continue;
    owners.set(table, module);
    for (const [, columns = '', other = ''] of others.matchAll(/((?:`[a-z_]+`(?:, )?)+): `([a-z0-9/-]+)`/g)) {
      for (const [, column] of columns.matchAll(/`([a-z_]+)`/g)) owners.set(`${table}.${column}`, other);
    }
  }
  return owners;
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
        select from f for update;
      `),
    ).toEqual(['a', 'b_2', 'c.x', 'c.y', 'c.z']);
  });

  it('of one table, or of columns that others do not write, stand in one module', () => {
    const owners = readOwners();
    const wrong: string[] = [];
    for (const [written, modules] of readWriters()) {
      const [table = ''] = written.split('.');
      const owner = owners.get(written) ?? owners.get(table);
      for (const module of modules) {
        // The module of the rows writes all columns when it makes one.
        const isOwner = [owner, owners.get(table)].some((one) => one !== undefined && owns(one, module));
        if (!isOwner) wrong.push(`${written}: ${module}, not ${owner}`);
      }
    }
    expect(wrong).toEqual([]);
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
