/** JSON of the API, and what the code makes of it. */
import { expect, expectTypeOf, it } from 'vitest';
import { record, NullableTimestamp, Timestamp, Uuid } from '../schemas/schemas.ts';
import { camelCase, fromJson, toJson, type Value } from './values.ts';

const Part = record('Part', { part_id: Uuid, p95_ms: { type: 'integer' } });
const Whole = record('Whole', {
  id: Uuid,
  made_at: Timestamp,
  ended_at: NullableTimestamp,
  parts: { type: 'array', items: Part },
  part: { anyOf: [Part, { type: 'null' }] },
  account_ids: {
    anyOf: [
      { type: 'string', const: '*' },
      { type: 'array', items: { type: 'string' } },
    ],
  },
  headers: { type: 'object', additionalProperties: { type: 'string' } },
});

const value: Value<typeof Whole> = {
  id: 'a',
  madeAt: new Date('2026-01-02T03:04:05Z'),
  endedAt: null,
  parts: [{ partId: 'b', p95Ms: 7 }],
  part: null,
  accountIds: '*',
  headers: { X_Own_Name: 'kept' },
};

it('names become those of the schema, at any depth, and times become text', () => {
  expect(toJson(Whole)({ ...value, secret: 'not in the schema' })).toEqual({
    id: 'a',
    made_at: '2026-01-02T03:04:05.000Z',
    ended_at: null,
    parts: [{ part_id: 'b', p95_ms: 7 }],
    part: null,
    account_ids: '*',
    headers: { X_Own_Name: 'kept' },
  });
});

it('what was written is read again', () => {
  const json = toJson(Whole)(value) as Readonly<Record<string, unknown>>;
  expect(fromJson(Whole.properties)(json)).toEqual(value);
});

it('absent fields stay absent, or have their default', () => {
  const read = fromJson({ limit: { type: 'integer', default: 50 }, next_cursor: { type: 'string' } });
  expect(read({})).toEqual({ limit: 50 });
  expect(read({ limit: 0, next_cursor: 'x' })).toEqual({ limit: 0, nextCursor: 'x' });
});

it('a UUID is read in lower case, and a moment that does not exist is refused by its name', () => {
  const read = fromJson({ id: Uuid, made_at: Timestamp });
  expect(read({ id: 'ABC' })).toEqual({ id: 'abc' });
  expect(() => read({ made_at: '2026-02-30T00:00:00Z' })).toThrow(
    expect.objectContaining({ code: 'invalid_request', text: expect.stringContaining('made_at') }),
  );
});

it('forms of an object that can not be told apart are refused at once', () => {
  expect(() => toJson({ anyOf: [Part, Whole] })).toThrow(TypeError);
});

it('forms are told apart by their JSON type', () => {
  const entries = { type: 'array', items: { anyOf: [{ type: 'string' }, Part] } };
  const read = fromJson({ entries });
  expect(read({ entries: ['a', { part_id: 'B', p95_ms: 1 }] })).toEqual({
    entries: ['a', { partId: 'b', p95Ms: 1 }],
  });
  expect(toJson(entries)(['a', { partId: 'b', p95Ms: 1 }])).toEqual(['a', { part_id: 'b', p95_ms: 1 }]);
});

it('types follow the schema', () => {
  expectTypeOf<Value<typeof Whole>['madeAt']>().toEqualTypeOf<Date>();
  expectTypeOf<Value<typeof Whole>['accountIds']>().toEqualTypeOf<'*' | readonly string[]>();
  expectTypeOf<Value<typeof Part>['p95Ms']>().toEqualTypeOf<number>();
  expect(camelCase('p95_ms')).toBe('p95Ms');
});
