import { describe, expect, it } from 'vitest';
import { newText } from '../mime/text/reply-text.ts';
import { MAX_QUOTE_CHARS, MAX_QUOTE_DEPTH, MAX_QUOTE_HTML_CHARS } from './limits.ts';
import { isTimeZone, makeForward, makeQuote, type QuotedEmail, type QuoteOptions } from './quote.ts';
import { withForward, withQuote } from './with-quote.ts';

const email: QuotedEmail = {
  from: { name: 'Ann Example', address: 'ann@example.com' },
  to: [{ name: 'Vertrieb', address: 'vertrieb@example.org' }],
  cc: [],
  date: new Date('2026-11-22T17:16:00Z'),
  subject: 'Angebot',
  textBody: 'Guten Tag\r\n\r\n> früher\nBis <bald>   \n',
  safeHtml: null,
};
const reply: QuoteOptions = { kind: 'reply', language: 'de', timeZone: 'Europe/Berlin' };
const forward: QuoteOptions = { ...reply, kind: 'forward' };

describe('the quote of a reply', () => {
  it('names date and writer, and marks each line once (RFC 3676 §4.5)', () => {
    expect(makeQuote(email, reply).text).toBe(
      'Am 22.11.2026 um 18:16 (MEZ) schrieb Ann Example <ann@example.com>:\n\n> Guten Tag\n>\n>> früher\n> Bis <bald>',
    );
  });

  it('is a blockquote in HTML, with nothing of the text taken for a tag', () => {
    const { html } = makeQuote({ ...email, from: { name: '<b>Ann</b>', address: 'ann@example.com' } }, reply);
    expect(html).toContain('schrieb &lt;b&gt;Ann&lt;/b&gt; &lt;ann@example.com&gt;:');
    expect(html).toMatch(/<blockquote type="cite"[^>]*>.*&gt; früher<br>Bis &lt;bald&gt;.*<\/blockquote>$/);
  });

  it('has the HTML of the email where that is safe', () => {
    expect(makeQuote({ ...email, safeHtml: '<p>Guten Tag</p>' }, reply).html).toContain(
      '<p>Guten Tag</p></blockquote>',
    );
  });

  it.each(['de', 'en'] as const)('is told apart from the answer again: %s', (language) => {
    const quote = makeQuote(email, { ...reply, language });
    const written = withQuote({ textBody: 'Danke, passt.', htmlBody: '<p>Danke, passt.</p>' }, quote);
    const context = { isReply: true, isForward: false, sender: null };
    expect(newText(written.textBody ?? '', null, context)).toBe('Danke, passt.');
    expect(newText('Danke, passt.\n\nx', written.htmlBody, context).trim()).toBe('Danke, passt.');
  });

  it('keeps names on one line', () => {
    const evil = { name: 'Ann\r\n\u2028Bcc: x', address: 'ann@example.com' };
    expect(makeQuote({ ...email, from: evil }, reply).text.split('\n')[0]).toMatch(/schrieb Ann Bcc: x </);
  });
});

describe('a quote is bounded', () => {
  it('in its length, which it says', () => {
    const quote = makeQuote({ ...email, textBody: 'wort '.repeat(MAX_QUOTE_CHARS) }, reply);
    expect(quote.text.length).toBeLessThan(MAX_QUOTE_CHARS + 200);
    expect(quote.text).toMatch(/\n> \[… gekürzt …\]$/);
    expect(quote.isCut).toBe(true);
  });

  it('in its depth, so that answers to answers stop growing', () => {
    let textBody = 'eins';
    const lengths: number[] = [];
    for (let round = 0; round < 3 * MAX_QUOTE_DEPTH; round += 1) {
      textBody =
        withQuote({ textBody: 'x', htmlBody: null }, makeQuote({ ...email, textBody }, reply)).textBody ?? '';
      lengths.push(textBody.length);
    }
    expect(Math.max(...lengths.slice(2 * MAX_QUOTE_DEPTH))).toBe(lengths[2 * MAX_QUOTE_DEPTH]);
  });

  it('and gives the text of HTML that is too long', () => {
    const safeHtml = `<p>${'x'.repeat(MAX_QUOTE_HTML_CHARS)}</p>`;
    const quote = makeQuote({ ...email, safeHtml }, reply);
    expect(quote.html).toContain('Guten Tag');
    expect(quote.html.length).toBeLessThan(2000);
    expect(quote.isCut).toBe(true);
  });
});

describe('a forward', () => {
  it('has the header block above the text, which is not marked', () => {
    expect(makeQuote({ ...email, cc: [{ name: '', address: 'c@example.com' }] }, forward).text).toBe(
      [
        '---------- Weitergeleitete Nachricht ----------',
        'Von: Ann Example <ann@example.com>',
        'Datum: 22.11.2026 18:16 (MEZ)',
        'Betreff: Angebot',
        'An: Vertrieb <vertrieb@example.org>',
        'Cc: <c@example.com>',
        '',
        'Guten Tag',
        '',
        '> früher',
        'Bis <bald>',
      ].join('\n'),
    );
  });

  it('names so many recipients and no more', () => {
    const to = Array.from({ length: 5000 }, (_, index) => ({ name: '', address: `a${index}@example.com` }));
    expect(makeQuote({ ...email, to }, forward).text).toMatch(/<a49@example\.com>, …\n/);
  });
});

describe('a forwarded email', () => {
  const forwarded = makeForward({ ...email, textBody: 'Guten Tag \n\n-- \n>>>>>>>>>>>> tief\n' }, forward);
  const html = { html: '<html><body><p>Guten Tag</body></html>', start: 12 };

  it('has its text as it was', () => {
    const { textBody } = withForward({ textBody: null, htmlBody: null }, forwarded, null);
    expect(textBody?.endsWith('\n\nGuten Tag \n\n-- \n>>>>>>>>>>>> tief\n')).toBe(true);
  });

  it('has words and header block at the beginning of its HTML', () => {
    expect(withForward({ textBody: null, htmlBody: null }, forwarded, html).htmlBody).toBe(
      `<html><body>${forwarded.head}<p>Guten Tag</body></html>`,
    );
    expect(withForward({ textBody: null, htmlBody: '<b>Zur Info</b>' }, forwarded, html)).toEqual({
      textBody: null,
      htmlBody: `<html><body><b>Zur Info</b><br>${forwarded.head}<p>Guten Tag</body></html>`,
    });
    expect(withForward({ textBody: '1 < 2\n', htmlBody: null }, forwarded, html).htmlBody).toContain(
      '1 &lt; 2</div><br>',
    );
  });

  it('follows HTML where it has none itself', () => {
    const { htmlBody } = withForward({ textBody: null, htmlBody: '<p>Zur Info</p>' }, forwarded, null);
    expect(htmlBody).toMatch(/^<p>Zur Info<\/p><br><div>-+ Weitergeleitete .*&gt;&gt; tief/);
  });
});

describe('what a person wrote', () => {
  it('stands above the quote, inside of the body of a document', () => {
    const quote = { text: 'q', html: '<i>q</i>', isHtml: false };
    expect(
      withQuote({ textBody: 'Hallo\n', htmlBody: '<html><body><p>Hallo</p></body></html>' }, quote),
    ).toEqual({
      textBody: 'Hallo\n\nq\n',
      htmlBody: '<html><body><p>Hallo</p><br><i>q</i></body></html>',
    });
  });

  it('may be nothing', () => {
    expect(
      withQuote({ textBody: null, htmlBody: null }, { text: 'q', html: '<i>q</i>', isHtml: false }),
    ).toEqual({
      textBody: 'q\n',
      htmlBody: null,
    });
    const quote = { text: 'q', html: '<i>q</i>', isHtml: true };
    expect(withQuote({ textBody: null, htmlBody: null }, quote).htmlBody).toBe('<i>q</i>');
  });
});

describe('isTimeZone', () => {
  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Mars/Base', false],
    ['', false],
  ])('%j: %s', (name, expected) => {
    expect(isTimeZone(name)).toBe(expected);
  });
});
