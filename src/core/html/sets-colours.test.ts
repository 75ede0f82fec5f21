import { describe, expect, it } from 'vitest';
import { sanitizeHtml } from './sanitize-html.ts';
import { setsColours } from './sets-colours.ts';
import { textAsHtml } from './text-as-html.ts';

const of = (html: string) =>
  setsColours(sanitizeHtml(html, { allowRemote: false, images: new Map() }).html, '');

describe('HTML that sets colours', () => {
  it.each([
    '<p style="color:#333">a</p>',
    '<p style="margin:0; color: red">a</p>',
    '<p style="background:#fff">a</p>',
    '<table bgcolor="#eeeeee"><tr><td>a</td></tr></table>',
    '<font color="red">a</font>',
    '<body text="black">a',
    '<style>p { color: black }</style><p>a</p>',
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=" width="9" height="9">',
  ])('is shown on a light ground: %s', (html) => {
    expect(of(html)).toBe(true);
  });

  it.each([
    '<p>Guten Tag</p>',
    '<div style="font-family:Arial;font-size:12pt;margin:0">a</div>',
    '<p style="border:1px solid #ccc;border-color:red">a</p>',
    '<p>style="color:red" bgcolor= &lt;img src&gt;</p>',
    '',
  ])('is not: %s', (html) => {
    expect(of(html)).toBe(false);
  });

  it('is no text, whatever it says', () => {
    expect(setsColours(textAsHtml('<img src="x"> a < b'), '')).toBe(false);
  });
});
