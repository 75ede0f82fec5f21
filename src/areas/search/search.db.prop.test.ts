/** Laws of searching: PostgreSQL accepts whatever is typed or received; both ways of searching find the same. */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { MAX_BODY_CHARS, toSearchDocument } from '../../core/search/document.ts';
import { formatTsquery, parseSearchQuery } from '../../core/search/query.ts';
import { runs } from '../../../test/helpers/runs.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(...`ab '"\\:*&|!<->()@.-,0äß„“東`), maxLength: 200 }),
);
const withoutNul = (text: string) => text.replaceAll('\0', '').toWellFormed();

describe('PostgreSQL', () => {
  it('takes every query and every document', async () => {
    const property = fc.asyncProperty(anyText, anyText, anyText, async (typed, subject, body) => {
      const document = toSearchDocument({
        subject: withoutNul(subject),
        from: [typed],
        to: [],
        files: [typed],
        event: typed,
        body: withoutNul(body),
      });
      const query = parseSearchQuery(typed);
      const { rows } = await pool.query<{ found: boolean }>('select $1::tsvector @@ $2::tsquery as found', [
        document,
        query === null ? '' : formatTsquery(query),
      ]);
      expect(rows).toHaveLength(1);
    });
    await fc.assert(property, { numRuns: runs(400) });
  });

  it.each([
    ['one long word', 'x'.repeat(MAX_BODY_CHARS)],
    [
      'the shortest words',
      Array.from({ length: MAX_BODY_CHARS / 2 }, (_, i) => (i % 36).toString(36)).join(' '),
    ],
    ['different words', Array.from({ length: 30_000 }, (_, i) => `${i.toString(36)}ü`).join(' ')],
    ['long different words', Array.from({ length: 2000 }, (_, i) => `${i}${'字ü'.repeat(31)}`).join(' ')],
    [
      'large characters',
      Array.from({ length: 12_000 }, (_, i) => String.fromCodePoint(0x20000 + i)).join(''),
    ],
  ])('takes a text of %s', async (_, body) => {
    const document = toSearchDocument({
      subject: body.slice(0, 2000),
      from: [body],
      to: [body],
      files: Array.from({ length: 200 }, () => body.slice(0, 255)),
      event: '',
      body: body.repeat(3),
    });
    const { rows } = await pool.query<{ bytes: number }>('select pg_column_size($1::tsvector) as bytes', [
      document,
    ]);
    expect(rows[0]!.bytes).toBeLessThan(1024 * 1024);
  });

  it('finds any part of the text that a user types', async () => {
    const word = fc.string({ unit: fc.constantFrom(...'aäbcßéx1東'), minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(
      fc.array(word, { minLength: 1, maxLength: 12 }),
      fc.nat(),
      fc.constantFrom(
        (text: string) => text,
        (text: string) => `"${text}"`,
        (text: string) => text.toUpperCase(),
        (text: string) => text.replaceAll('ä', 'ae'),
        (text: string) => text.normalize('NFD'),
      ),
      async (body, at, as) => {
        const typed = as(body[at % body.length]!);
        const query = parseSearchQuery(typed)!;
        const { rows } = await pool.query<{ found: boolean }>('select $1::tsvector @@ $2::tsquery as found', [
          toSearchDocument({
            subject: 'Betreff',
            from: [],
            to: [],
            files: [],
            event: '',
            body: body.join(', '),
          }),
          formatTsquery(query),
        ]);
        expect(rows[0]!.found, `${typed} in ${body.join(', ')}`).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });
});
