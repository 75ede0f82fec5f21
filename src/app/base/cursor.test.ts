import { expect, it } from 'vitest';
import { formatCursor, parseCursor } from './cursor.ts';

const PLACE = { date: new Date('2026-03-01T12:00:00.123Z'), id: '0198c0de-0000-7000-8000-000000000001' };

it('reads back what it wrote', () => {
  expect(parseCursor(formatCursor(PLACE))).toEqual(PLACE);
});

it('works before 1970', () => {
  const place = { ...PLACE, date: new Date('1969-07-20T20:17:40Z') };
  expect(parseCursor(formatCursor(place))).toEqual(place);
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
  expect(() => parseCursor(text)).toThrow('invalid_cursor');
});
