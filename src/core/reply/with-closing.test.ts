import { describe, expect, it } from 'vitest';
import { hasFooter, withClosing } from './with-closing.ts';

const signature = { text: 'Ada\nFirma GmbH\n', html: '<b>Ada</b>' };
const footer = { text: 'Sitz <Berlin>, HRB 1', html: null };

describe('what is below an email', () => {
  it('follows the line of RFC 3676 §4.3, the signature before the footer', () => {
    expect(withClosing({ textBody: 'Hallo\n\n', htmlBody: null }, [signature, footer])).toEqual({
      textBody: 'Hallo\n\n-- \nAda\nFirma GmbH\n\nSitz <Berlin>, HRB 1\n',
      htmlBody: null,
    });
  });

  it('is within the body of a document, as text where it has no HTML', () => {
    const written = { textBody: null, htmlBody: '<html><body><p>Hallo</p></body></html>' };
    expect(withClosing(written, [signature, footer]).htmlBody).toBe(
      '<html><body><p>Hallo</p><br><div>-- <br><div><b>Ada</b></div><br><div><span style="white-space:pre-wrap">' +
        'Sitz &lt;Berlin&gt;, HRB 1</span></div></div></body></html>',
    );
  });

  it('is in both forms when nothing was written', () => {
    const { textBody, htmlBody } = withClosing({ textBody: null, htmlBody: null }, [signature]);
    expect(textBody).toBe('-- \nAda\nFirma GmbH\n');
    expect(htmlBody).toContain('<b>Ada</b>');
  });

  it('changes nothing without parts', () => {
    const written = { textBody: 'x ', htmlBody: null };
    expect(withClosing(written, [])).toEqual(written);
  });
});

it.each([
  ['Hallo\n\nSitz <Berlin>,\r\n  HRB 1\n', true],
  ['Hallo\n\nSitz <Berlin>, HRB 2', false],
  ['Hallo\n\nAda schrieb:\n\n> Sitz <Berlin>, HRB 1\n', false],
])('%j has the footer: %j', (text, expected) => {
  expect(hasFooter(text, footer.text)).toBe(expected);
});
