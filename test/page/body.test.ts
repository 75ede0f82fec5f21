/** The two forms of a text written in the page. */
import { describe, expect, it } from 'vitest';
import { toHtml, toLink, toMailHtml, toPlainText } from '../../page/src/features/write/body.ts';

const line = (...content: object[]) => ({ type: 'paragraph', content });
const words = (text: string, href?: string) => ({
  type: 'text',
  text,
  ...(href === undefined ? {} : { marks: [{ type: 'bold' }, { type: 'link', attrs: { href } }] }),
});
const item = (...content: object[]) => ({ type: 'listItem', content });
const textOf = (...content: object[]) => toPlainText({ type: 'doc', content } as never);

describe('a formatted message as plain text', () => {
  it('has a line for each line, also for empty ones', () => {
    expect(
      textOf(
        line(words('Hello,')),
        line(),
        line(words('one'), { type: 'hardBreak' }, words('two\u00a0 three')),
        { type: 'heading', content: [words('four')] },
      ),
    ).toBe('Hello,\n\none\ntwo  three\nfour');
  });

  it('marks lists and quotations as people do, within each other too', () => {
    expect(
      textOf(
        { type: 'bulletList', content: [item(line(words('a')), line(words('b'))), item(line(words('c')))] },
        {
          type: 'orderedList',
          attrs: { start: 9 },
          content: [
            item(line(words('nine'))),
            item(line(words('ten')), { type: 'bulletList', content: [item(line(words('in')))] }),
          ],
        },
        {
          type: 'blockquote',
          content: [line(words('said')), line(), { type: 'blockquote', content: [line(words('before'))] }],
        },
      ),
    ).toBe('- a\n  b\n- c\n9. nine\n10. ten\n    - in\n> said\n>\n> > before');
  });

  it('says where a link leads, unless its words do', () => {
    expect(
      textOf(
        line(words('see '), words('our ', 'https://a.test/x'), words('shop', 'https://a.test/x'), words('!')),
        line(words('a.test', 'https://a.test/'), words(' '), words('b@a.test', 'mailto:b@a.test')),
        line(words('one', 'https://one.test'), words('two', 'https://two.test')),
      ),
    ).toBe('see our shop <https://a.test/x>!\na.test b@a.test\none <https://one.test>two <https://two.test>');
  });
});

describe('a table as plain text', () => {
  const cell = (text: string, attrs = {}, type = 'tableCell') => ({
    type,
    attrs: { colspan: 1, rowspan: 1, ...attrs },
    content: text.split('\n').map((one) => line(words(one))),
  });
  const head = (text: string) => cell(text, {}, 'tableHeader');
  const table = (...rows: object[][]) => ({
    type: 'table',
    content: rows.map((content) => ({ type: 'tableRow', content })),
  });

  it('has its columns below each other, and a line below its headings', () => {
    expect(
      textOf(
        line(words('Hello')),
        table(
          [head('Pos'), head('Article'), head('Price')],
          [cell('1'), cell('Window\nwhite'), cell('18 €')],
          [cell('20'), cell(''), cell('7 €')],
        ),
        line(words('Bye')),
      ),
    ).toBe(
      'Hello\nPos | Article | Price\n---------------------\n1   | Window  | 18 €\n    | white   |\n20  |         | 7 €\nBye',
    );
  });

  it('keeps cells in their columns where others cover several rows or columns', () => {
    expect(
      textOf(
        table(
          [cell('a', { rowspan: 2 }), cell('b', { colspan: 2 })],
          [cell('c'), cell('d')],
          [cell('e'), cell('f'), cell('g')],
        ),
      ),
    ).toBe('a | b |\n  | c | d\ne | f | g');
  });

  it('is not aligned where its lines would be broken, and never loses a word', () => {
    const long = 'word '.repeat(20).trim();
    expect(textOf(table([cell('1'), cell(long)], [cell('twenty'), cell('x')]))).toBe(
      `1 | ${long}\ntwenty | x`,
    );
  });
});

describe('a plain text with formatting', () => {
  it('keeps lines, spaces and signs', () => {
    expect(toHtml('a <b> & "c"\r\n\n  two   spaces')).toBe(
      '<div>a &lt;b&gt; &amp; "c"</div><div><br></div><div> &nbsp;two &nbsp; spaces</div>',
    );
    expect(toHtml('')).toBe('');
  });

  it('gives empty lines a height', () => {
    expect(toMailHtml('<div></div><ul><li><div></div></li></ul>')).toBe(
      '<div><br></div><ul><li><div><br></div></li></ul>',
    );
  });
});

describe('the address of a link', () => {
  it.each([
    ['example.com', 'https://example.com/'],
    [' http://example.com/a?b#c ', 'http://example.com/a?b#c'],
    ['ann@example.com', 'mailto:ann@example.com'],
    ['mailto:ann@example.com?subject=x', 'mailto:ann@example.com?subject=x'],
    ['tel:+4930123', 'tel:+4930123'],
    ['javascript:alert(1)', null],
    ['https://javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['two words.de', null],
    ['localhost', null],
    ['', null],
  ])('%j leads to %j', (typed, href) => {
    expect(toLink(typed)).toBe(href);
  });
});
