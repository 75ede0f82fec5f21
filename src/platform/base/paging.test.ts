import { expect, it } from 'vitest';
import { PLACE_CURSOR, readPage } from './paging.ts';

const PLACE = { date: new Date('2026-03-01T12:00:00.123Z'), id: '0198c0de-0000-7000-8000-000000000001' };

it('reads back what it wrote', () => {
  expect(PLACE_CURSOR.parse(PLACE_CURSOR.format(PLACE))).toEqual(PLACE);
});

it('works before 1970', () => {
  const place = { ...PLACE, date: new Date('1969-07-20T20:17:40Z') };
  expect(PLACE_CURSOR.parse(PLACE_CURSOR.format(place))).toEqual(place);
});

const encode = (text: string) => Buffer.from(text).toString('base64url');

it.each([
  ['nothing', ''],
  ['noise', '%%%'],
  ['a date only', encode('0')],
  ['no UUID', encode('0:x')],
  ['a date out of range', encode(`9999999999999999:${PLACE.id}`)],
  ['a date before all emails', encode(`-8640000000000000:${PLACE.id}`)],
  ['no number', encode(`1e3:${PLACE.id}`)],
  ['more than two parts', encode(`0:${PLACE.id}:x`)],
])('refuses %s', (_, text) => {
  expect(() => PLACE_CURSOR.parse(text)).toThrow('invalid_cursor');
});

it.each([0, 1, 3, 4, 6, 7])(
  'gives every one of %i entries once, three on a page, and no empty page behind them',
  async (count) => {
    const all = Array.from({ length: count }, (_, index) => ({
      date: new Date(index * 1000),
      id: `0198c0de-0000-7000-8000-${String(index).padStart(12, '0')}`,
    }));
    const seen: unknown[] = [];
    let pages = 0;
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readPage<(typeof all)[0], (typeof all)[0]>>> = await readPage(
        PLACE_CURSOR,
        { limit: 3, cursor },
        async (after, limit) => {
          const begin = all.findIndex(({ id }) => id === after?.id) + 1;
          return all.slice(begin, begin + limit);
        },
        (item) => item,
      );
      seen.push(...page.items);
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual(all);
    expect(pages).toBe(Math.max(1, Math.ceil(count / 3)));
  },
);
