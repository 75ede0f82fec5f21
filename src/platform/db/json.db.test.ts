import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { columnsOf, jsonObject, jsonObjects, jsonRows, type JsonOf } from './json.ts';
import { allStatements } from './statement.ts';

interface Named {
  id: number;
  name: string | null;
}

declare module './statement.ts' {
  interface StatementTypes {
    'test-object': { values: object; row: Named };
    'test-with': { values: object; row: { id: number } };
    'test-objects': { values: object; row: { id: number } };
    'test-rows': { values: object; row: Named };
  }
}

const TABLE = `(values (1, 'a', '2026-01-02T03:04:05Z'::timestamptz), (2, 'b', null)) t (id, name, at)`;

const OBJECT = jsonObject('test-object', { from: TABLE, columns: columnsOf('t', 'id', 'name') });
const WITH = jsonObject('test-with', {
  with: `with given as (select * from ${TABLE})`,
  from: 'given g',
  columns: { id: 'g.id' },
});
const OBJECTS = jsonObjects('test-objects', { alias: ['a', 'b'] }, ({ alias }) => ({
  columns: { id: `1 + ${alias === 'a' ? '1' : '2'}` },
}));
const ROWS = jsonRows('test-rows', `select t.id, t.name from ${TABLE} order by t.id desc`).narrow<{
  name: string;
}>();

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 1);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function read(expression: string, before = ''): Promise<unknown> {
  const { rows } = await pool.query<{ found: unknown }>(`${before} select ${expression} as found`);
  return rows[0]?.found;
}

const textsOf = (name: string) =>
  allStatements()
    .get(name)?.()
    .map(({ text }) => text.trim().replace(/\s+/g, ' '));

describe('an object of JSON', () => {
  it('is given for each row, in the order that is asked for', async () => {
    expect(await read(OBJECT.array('', 't.id desc'))).toEqual([
      { id: 2, name: 'b' },
      { id: 1, name: 'a' },
    ]);
    expect(await read(OBJECT.first('where t.id = 2'))).toEqual({ id: 2, name: 'b' });
  });

  it('is an empty array or null where there is no row', async () => {
    expect(await read(OBJECT.array('where false', 't.id'))).toEqual([]);
    expect(await read(OBJECT.first('where false'))).toBeNull();
  });

  it('reads what the statement has named before', async () => {
    expect(await read(WITH.array('', 'g.id'), `with given as (select * from ${TABLE})`)).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
  });

  it('differs by the choice, and may have no table', async () => {
    expect(await read(OBJECTS.of({ alias: 'a' }).object)).toEqual({ id: 2 });
    expect(await read(OBJECTS.of({ alias: 'b' }).object)).toEqual({ id: 3 });
  });

  it('is checked as the query of its columns, for each choice', () => {
    expect(textsOf('test-object')).toEqual([`select t.id as "id", t.name as "name" from ${TABLE}`]);
    expect(textsOf('test-with')).toEqual([
      `with given as (select * from ${TABLE}) select g.id as "id" from given g`,
    ]);
    expect(textsOf('test-objects')).toEqual(['select 1 + 1 as "id"', 'select 1 + 2 as "id"']);
    expect(allStatements().get('test-object')?.()[0]?.isJson).toBe(true);
  });
});

describe('rows as JSON', () => {
  it('are in the order of their query', async () => {
    expect(await read(ROWS.array)).toEqual([
      { id: 2, name: 'b' },
      { id: 1, name: 'a' },
    ]);
  });

  it('have the types of the query, or what it is narrowed to', () => {
    expectTypeOf<JsonOf<typeof ROWS>>().toEqualTypeOf<{ id: number; name: string }>();
    expectTypeOf<JsonOf<typeof OBJECT>>().toEqualTypeOf<Named>();
    // @ts-expect-error -- no column of the query
    const other = ROWS.narrow<{ other: string }>();
    expect(other.array).toBe(ROWS.array);
  });
});
