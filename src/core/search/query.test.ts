import { describe, expect, it } from 'vitest';
import { formatTsquery, isSearch, MAX_QUERY_CHARS, parseSearchQuery } from './query.ts';

const tsquery = (text: string) => {
  const query = parseSearchQuery(text);
  return query === null ? null : formatTsquery(query);
};

describe('parseSearchQuery', () => {
  it.each([
    ['words, each of which may go on', 'rechnung 4711', `(('rechnung':*)) & (('4711':*))`],
    ['short words exactly', 'zu Re', `(('zu')) & (('re'))`],
    ['both ways of writing umlauts', 'müller', `(('muller':* | 'mueller':*))`],
    ['a phrase in quotes, exactly', '"Grüße aus" Rom', `(('grusse' | 'gruesse') <-> ('aus')) & (('rom':*))`],
    ['quotes of other languages', '„vielen Dank“ «merci»', `(('vielen') <-> ('dank')) & (('merci'))`],
    ['a quote that never ends', '"vielen Dank', `(('vielen') <-> ('dank'))`],
    ['excluded words and phrases', 'rom -paris -"a b"', `(('rom':*)) & !(('paris':*)) & !(('a') <-> ('b'))`],
    ['a hyphen inside a word', 'E-Mail', `(('e') <-> ('mail':*))`],
    ['parts of addresses', '@example.com', `(('example') <-> ('com':*))`],
    ['scripts without spaces', '東京', `(('東') <-> ('京'))`],
    ['operators as signs', 'a & b | !c <-> (d):*', `(('a')) & (('b')) & (('c')) & (('d'))`],
    ['SQL as words', `'; drop table emails; --`, `(('drop':*)) & (('table':*)) & (('emails':*))`],
    ['nothing but signs as nothing', `' " ( \\ ! - <->`, null],
    ['only excluded words as nothing', '-rom', null],
  ])('reads %s', (_, text, expected) => {
    expect(tsquery(text)).toBe(expected);
  });

  it('reads what is looked for in a part with the sign of that part', () => {
    const query = parseSearchQuery('rom', {
      from: 'ann -"b c"',
      to: '@example.com',
      subject: '"neues Angebot" zu',
    });
    expect(formatTsquery(query!)).toBe(
      `(('rom':*)) & (('<ann':*)) & (('>example') <-> ('>com':*)) & (('#neues') <-> ('#angebot')) & (('#zu'))` +
        ` & !(('<b') <-> ('<c'))`,
    );
    expect(parseSearchQuery(null, { from: '-ann', to: '!' })).toBeNull();
    expect(isSearch(null, { to: '!' })).toBe(true);
    expect(isSearch(null, { to: undefined })).toBe(false);
  });

  it('reads no more than its bound', () => {
    expect(tsquery(`${' '.repeat(MAX_QUERY_CHARS)}rom`)).toBeNull();
  });
});
