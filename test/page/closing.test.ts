/** What the service puts below a message, as the page shows it before. */
import { describe, expect, it } from 'vitest';
import { fillSignature, withoutClosing } from '../../page/src/features/write/closing.ts';
import { sentAs } from '../../page/src/features/write/sent-as.ts';
import type { Sender } from '../../page/src/features/write/senders.ts';
import { makeForward, makeQuote } from '../../src/core/reply/quote.ts';
import { withClosing } from '../../src/core/reply/with-closing.ts';
import { withForward, withQuote } from '../../src/core/reply/with-quote.ts';

const VALUES = {
  author: { name: 'Ada & <Co>' },
  account: { id: 'sales', name: 'Sales', address: 'sales@company.test' },
};

describe('a signature', () => {
  it('has its variables filled in, escaped in HTML', () => {
    const signature = {
      text: '{{ author.name }}\n{{account.name}}, {{ account.address }} ({{ account.id }})',
      html: '<b>{{ author.name }}</b>',
    };
    expect(fillSignature(signature, VALUES)).toEqual({
      text: 'Ada & <Co>\nSales, sales@company.test (sales)',
      html: '<b>Ada &amp; &lt;Co&gt;</b>',
      isFilled: true,
    });
  });

  it.each(['{{ author.name | upcase }}', '{% if author.name %}x{% endif %}', '{{- author.name -}}'])(
    'that only the service can fill in stays as it is written: %s',
    (text) => {
      expect(fillSignature({ text, html: null }, VALUES)).toEqual({ text, html: null, isFilled: false });
    },
  );

  it('that is empty once it is filled in is none', () => {
    const nobody = { ...VALUES, author: { name: '' } };
    expect(fillSignature({ text: ' {{ author.name }} ', html: null }, nobody)).toBeNull();
  });

  it('does not read a value as a pattern', () => {
    const dollars = { ...VALUES, author: { name: '$& {{ account.id }}' } };
    expect(fillSignature({ text: '{{ author.name }}', html: null }, dollars)?.text).toBe(
      '$& {{ account.id }}',
    );
  });
});

/** An email of ours, with the closing of the service. */
const EARLIER = {
  from: { name: 'Sales', address: 'sales@company.test' },
  to: [{ name: '', address: 'ann@customer.test' }],
  cc: [],
  date: new Date(0),
  subject: 'Offer',
  textBody: 'Ten euros.\n\n-- \nAda\n\nCompany & Co\nHRB 1\n',
};

describe('the text of an email that was sent', () => {
  const signature = { text: 'Ada', html: '<i>Ada</i>' };
  const footer = { text: 'Company & Co\nHRB 1', html: null };
  const quote = '\n> earlier';
  const sent = (parts: readonly { text: string; html: string | null }[]) => {
    const { textBody, htmlBody } = withClosing({ textBody: 'Hello', htmlBody: '<div>Hello</div>' }, parts);
    return { text_body: `${textBody}${quote}`, html_body: `${htmlBody}<blockquote>earlier</blockquote>` };
  };

  it.each([
    ['signature and footer', [signature, footer], true],
    ['the footer alone', [footer], false],
    ['the signature alone', [signature], true],
  ])('loses %s, and keeps what is above and below', (_title, parts, isSigned) => {
    expect(withoutClosing(sent(parts), { signature, footer })).toEqual({
      text_body: 'Hello\n\n\n> earlier',
      html_body: '<div>Hello</div><blockquote>earlier</blockquote>',
      signature: isSigned,
    });
  });

  it('loses it in plain text alone, and without a quote', () => {
    const { textBody } = withClosing({ textBody: 'Hello', htmlBody: null }, [signature, footer]);
    expect(withoutClosing({ text_body: textBody ?? '', html_body: null }, { signature, footer })).toEqual({
      text_body: 'Hello',
      html_body: null,
      signature: true,
    });
  });

  it.each([
    ['an earlier footer', [{ text: 'HRB 0', html: null }]],
    ['no closing', []],
  ])('stays as it is with %s', (_title, parts) => {
    const body = sent(parts);
    expect(withoutClosing(body, { signature, footer })).toEqual({ ...body, signature: false });
  });

  it('loses what stands above the quote of the service, or above a forwarded email', () => {
    const language = { language: 'en', timeZone: 'UTC' } as const;
    const own = withClosing({ textBody: 'Hello', htmlBody: null }, [signature, footer]);
    const quoted = withQuote(own, makeQuote({ ...EARLIER, safeHtml: null }, { ...language, kind: 'reply' }));
    const forwarded = withForward(own, makeForward(EARLIER, language), null);
    for (const { textBody } of [quoted, forwarded]) {
      const body = { text_body: textBody ?? '', html_body: null };
      const found = withoutClosing(body, { signature, footer });
      expect(found.signature).toBe(true);
      expect(found.text_body).toMatch(/^Hello\n\n\n[^]*HRB 1$/);
      expect(found.text_body.match(/HRB 1/g)).toHaveLength(1);
    }
  });

  it('keeps the closing of a forwarded email of ours', () => {
    const { textBody: text_body } = withForward(
      { textBody: 'Please look.', htmlBody: null },
      makeForward(EARLIER, { language: 'de', timeZone: 'UTC' }),
      null,
    );
    const body = { text_body: text_body ?? '', html_body: null };
    expect(withoutClosing(body, { signature, footer })).toEqual({ ...body, signature: false });
    expect(withoutClosing(body, { signature: null, footer })).toEqual({ ...body, signature: false });
  });

  it.each([
    ['an earlier footer below the signature', 'Hello\n\n-- \nAda\n\nHRB 0\n'],
    ['a longer signature of then', 'Hello\n\n-- \nAda\nSales\n'],
    ['an earlier footer above a quote', 'Hello\n\n-- \nAda\n\nHRB 0\n\nOn 1 Jan, Ann wrote:\n\n> earlier\n'],
    ['text within the line', 'See x-- \nAda\n'],
  ])('keeps all of %s, in plain text', (_title, text_body) => {
    const body = { text_body, html_body: null };
    expect(withoutClosing(body, { signature, footer })).toEqual({ ...body, signature: false });
  });

  it('is sent again by the same address, where the account still has it', () => {
    const shared = { accountId: 'sales', kind: 'plain', name: '', isUsual: false, footer: null } as const;
    const senders: readonly Sender[] = [
      { ...shared, address: 'sales@company.test', isUsual: true, signature: null },
      {
        ...shared,
        address: 'offers@company.test',
        signature: { text: '{{ author.name }}, {{ account.address }}', html: null },
      },
    ];
    const text_body = 'Hello\n\n-- \nAda, offers@company.test\n';
    const again = (address: string, author: string) =>
      sentAs(
        { account_id: 'sales', from_address: { name: '', address }, text_body, html_body: null },
        senders,
        author,
      );
    expect(again('offers@company.test', 'Ada')).toEqual({
      text_body: 'Hello',
      signature: true,
      from: 'offers@company.test',
    });
    // Of a colleague, whose signature stays in the text.
    expect(again('offers@company.test', 'Ben')).toMatchObject({ text_body, signature: false });
    expect(again('gone@company.test', 'Ada')).toEqual({ text_body, signature: false });
    expect(again('sales@company.test', 'Ada')).toEqual({ text_body, signature: false });
  });
});
