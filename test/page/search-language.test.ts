/** The text of the page's search field as filters of the API, and the parts of it that are marked. */
import { describe, expect, it } from 'vitest';
import { readSearch, withCustomer } from '../../page/src/features/search/search-language.ts';
import { hasHit, markHits, toTerm, type Term } from '../../page/src/features/search/search-terms.ts';

const startOf = (year: number, month: number, day: number) => new Date(year, month - 1, day).toISOString();

describe('a search', () => {
  it.each([
    ['words and phrases', 'offer "best price" -draft', { q: 'offer "best price" -draft' }],
    [
      'parts of an email',
      'from:ann to:@acme.com subject:offer',
      { from: 'ann', to: '@acme.com', subject: 'offer' },
    ],
    ['parts in quotes, and several times', 'from:"Ann B" from:c', { from: '"Ann B" c' }],
    ['parts that are excluded', '-from:ann -subject:"new offer"', { from: '-ann', subject: '-"new offer"' }],
    ['operators between words', 'one FROM:ann two', { q: 'one two', from: 'ann' }],
    [
      'German operators',
      'von:ann an:bob betreff:x ist:offen',
      { from: 'ann', to: 'bob', subject: 'x', status: 'open' },
    ],
    ['files', 'has:file hat:anhang', { has_attachments: true }],
    ['states', 'is:unread is:unanswered is:done', { unread: true, unanswered: true, status: 'done' }],
    ['a label in quotes', 'label:"to do"', { label: 'to do' }],
    ['a day', 'before:2026-03-31', { active_until: startOf(2026, 3, 31) }],
    ['a German day', 'nach:1.2.2026', { active_since: startOf(2026, 2, 1) }],
    [
      'a month and a year',
      'after:2025 before:2026-02',
      { active_since: startOf(2025, 1, 1), active_until: startOf(2026, 2, 1) },
    ],
    [
      'a customer by identifier',
      'customer:0198A0C2-1111-7111-8111-111111111111',
      { customer_id: '0198A0C2-1111-7111-8111-111111111111' },
    ],
    [
      'what only looks like an operator',
      'Re:offer http://acme.com a:b',
      { q: 'Re:offer http://acme.com a:b' },
    ],
    ['operators that are still being typed', 'from: before: has: offer', { q: 'offer' }],
    ['a quote that never ends', 'from:"ann', { from: '"ann' }],
    ['nothing', '  ', {}],
  ])('reads %s', (_, typed, filter) => {
    expect(readSearch(typed)).toMatchObject({ filter, faults: [] });
    expect(Object.keys(readSearch(typed).filter)).toEqual(expect.arrayContaining(Object.keys(filter)));
    expect(Object.keys(readSearch(typed).filter)).toHaveLength(Object.keys(filter).length);
  });

  it.each(['before:tomorrow', 'after:2026-02-31', 'has:fun', 'is:blue', '-label:x', 'before:31.13.2026'])(
    'says that %s can not be used, and looks for the rest',
    (fault) => {
      expect(readSearch(`offer ${fault}`)).toMatchObject({ filter: { q: 'offer' }, faults: [fault] });
    },
  );

  it('names the customer that is to be found, and takes another one in its place', () => {
    const typed = 'offer customer:acme from:ann';
    expect(readSearch(typed)).toMatchObject({ customer: 'acme', filter: { q: 'offer', from: 'ann' } });
    const chosen = withCustomer(typed, 'acme', '"Acme $& GmbH"');
    expect(chosen).toBe('offer customer:"Acme $& GmbH" from:ann');
    expect(readSearch(chosen).customer).toBe('Acme $& GmbH');
  });

  it('reads whatever is typed in time in proportion to it', () => {
    for (const piece of ['a', '"', ':', 'a:', '-', '-"', '„x', ' '])
      expect(() => readSearch(piece.repeat(200).slice(0, 200))).not.toThrow();
  });
});

describe('hits', () => {
  const terms = (...typed: string[]) =>
    typed.flatMap((one): Term[] => {
      const term = toTerm(one.replaceAll('"', ''), one.startsWith('"'));
      return term === null ? [] : [term];
    });
  const marked = (text: string, ...typed: string[]) =>
    markHits(text, terms(...typed))
      .map((piece) => (piece.isHit ? `[${piece.text}]` : piece.text))
      .join('');

  it.each([
    ['words, whatever their case', 'The offer. OFFER!', ['offer'], 'The [offer]. [OFFER]!'],
    ['words that go on', 'Rechnungsnummer, Abrechnung', ['rechnung'], '[Rechnungsnummer], Abrechnung'],
    ['short words exactly', 'zu zum', ['zu'], '[zu] zum'],
    [
      'accents and umlauts in both ways',
      'Café Müller Mueller',
      ['cafe', 'mueller'],
      '[Café] [Müller] [Mueller]',
    ],
    ['umlauts that were typed', 'Muller Mueller', ['müller'], '[Muller] [Mueller]'],
    ['phrases as a whole', 'the best price, price best', ['"best price"'], 'the [best price], price best'],
    ['addresses', 'to ann@acme.com now', ['@acme.com'], 'to ann@[acme.com] now'],
    ['scripts without spaces', '東京タワー', ['東京'], '[東京]タワー'],
    ['signs as they are', '<b>&amp; offer</b>', ['offer'], '<b>&amp; [offer]</b>'],
    ['nothing where nothing is', 'offer', ['price'], 'offer'],
  ])('are %s', (_, text, typed, expected) => {
    expect(marked(text, ...typed)).toBe(expected);
    expect(hasHit(text, terms(...typed))).toBe(expected !== text);
  });

  it('leave no character out', () => {
    const text = ' a “b” \u0000 ǘ 👍🏽 offer\r\n';
    expect(
      markHits(text, terms('b', 'offer', 'u'))
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
  });
});
