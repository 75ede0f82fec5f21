/** Long texts get into the database whole, whichever characters they are cut between. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';
import { dropLongTexts, isLong, longText, sendLongTexts, TEXT_PIECE_CHARS } from './long-texts.ts';
import { toStorable } from '../../core/storable-text.ts';

const OWNER = '5f1f1c1e-0000-4000-8000-000000000001';

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

describe('a long text', () => {
  it.each([
    ['with a character of two units at the cut', `${'x'.repeat(TEXT_PIECE_CHARS - 1)}😀${'y'.repeat(10)}`],
    ['with a half of a character at the cut', `${'x'.repeat(TEXT_PIECE_CHARS - 1)}\ud83d${'y'.repeat(10)}`],
    ['of halves of characters', '\ud83d'.repeat(2 * TEXT_PIECE_CHARS + 1)],
    ['of NULs', '\0'.repeat(TEXT_PIECE_CHARS + 1)],
    ['of many pieces', 'grün€'.repeat(TEXT_PIECE_CHARS)],
  ])('%s is the same in the database, and leaves nothing behind', async (_name, text) => {
    expect(isLong(text)).toBe(true);
    const long = await sendLongTexts(pool, OWNER, { text_body: text, html_body: null, reply_text: text });
    expect(long).toEqual({ text_body: 'text_body', reply_text: 'text_body' });
    const { rows } = await pool.query(`select ${longText('$1', '$2')} as text`, [OWNER, 'text_body']);
    expect(rows[0]?.text === toStorable(text)).toBe(true);
    await dropLongTexts(pool, OWNER, long);
    expect((await pool.query('select from text_pieces')).rows).toEqual([]);
  });

  it('is none up to the length of a piece', async () => {
    expect(await sendLongTexts(pool, OWNER, { text_body: 'x'.repeat(TEXT_PIECE_CHARS) })).toEqual({});
  });
});
