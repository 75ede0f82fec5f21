import { expect, it } from 'vitest';
import { parseListId, readListId } from './list-id.ts';

const read = (...values: string[]) => readListId(values.map((value) => ({ name: 'list-id', value })));

it.each([
  ['<news.example.com>', 'news.example.com'],
  ['"The <best> news" <News.Example.com>', 'news.example.com'],
  ['Liste der Kunden < kunden_1.liste.test >', 'kunden_1.liste.test'],
  ['news.example.com', 'news.example.com'],
  [`<${'a'.repeat(255)}>`, 'a'.repeat(255)],
])('%s names a list', (value, id) => {
  expect(read(value)).toBe(id);
});

it.each([[''], ['<>'], ['a list'], ['<two words>'], [`<${'a'.repeat(256)}>`], ['<ü.test>'], ['>a<'], ['<a']])(
  '%s names none',
  (value) => {
    expect(read(value)).toBeNull();
  },
);

it('is that of the first field', () => {
  expect(read('<a.test>', '<b.test>')).toBe('a.test');
  expect(readListId([])).toBeNull();
});

it('may be asked for in brackets', () => {
  expect(parseListId(' <News.Test> ')).toBe('news.test');
});

it('is read in little time, whatever it says', () => {
  for (const value of ['<'.repeat(100_000), '>'.repeat(100_000), `${'<>'.repeat(50_000)} `]) {
    expect(read(value)).toBeNull();
  }
});
