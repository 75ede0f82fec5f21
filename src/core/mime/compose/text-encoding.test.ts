import { describe, expect, it } from 'vitest';
import { encodeText } from './text-encoding.ts';

const encode = (text: string): readonly [string, string] => {
  const { transferEncoding, bytes } = encodeText(text, 'text_body', true);
  return [transferEncoding, bytes.toString('latin1')];
};

describe('encodeText', () => {
  it.each([
    ['short ASCII lines as they are', 'a\nb\r\nc\rd', '7bit', 'a\r\nb\r\nc\r\nd'],
    ['a line of 78', 'x'.repeat(78), '7bit', 'x'.repeat(78)],
    ['a longer line', 'x'.repeat(79), 'quoted-printable', `${'x'.repeat(75)}=\r\nxxxx`],
    ['umlauts', 'Größe', 'quoted-printable', 'Gr=C3=B6=C3=9Fe'],
    ['white space at the end of a line', 'a \nb\t', 'quoted-printable', 'a=20\r\nb=09'],
    ['a signature line', '-- \nMax', 'quoted-printable', '--=20\r\nMax'],
    ['a lone dot', 'a\n.\nb', 'quoted-printable', 'a\r\n=2E\r\nb'],
    ['a line that starts with From', 'a\nFrom b', 'quoted-printable', 'a\r\n=46rom b'],
    ['From within a line', 'a From b\nFrome', '7bit', 'a From b\r\nFrome'],
    ['equals signs', 'a=b', '7bit', 'a=b'],
    ['equals signs where it matters', 'a=b ', 'quoted-printable', 'a=3Db=20'],
    ['control characters', 'a\u000cb\u001b', 'quoted-printable', 'a=0Cb=1B'],
    ['nothing but control characters', '\u0001\u0001\u0001', 'quoted-printable', '=01=01=01'],
    ['text mostly beyond ASCII', '日本語', 'base64', '5pel5pys6Kqe'],
    ['nothing', '', '7bit', ''],
  ])('writes %s', (_, text, transferEncoding, expected) => {
    expect(encode(text)).toEqual([transferEncoding, expected]);
  });

  it('splits no character between lines of quoted-printable', () => {
    const [, encoded] = encode(`${'x'.repeat(70)}€${'x'.repeat(300)}`);
    expect(encoded.split('\r\n').slice(0, 2)).toEqual([`${'x'.repeat(70)}=`, `=E2=82=AC${'x'.repeat(66)}=`]);
  });

  it('escapes what a soft line break brings to the start of a line', () => {
    const [, encoded] = encode(`${'x'.repeat(75)}.${'x'.repeat(74)}From x`);
    expect(encoded).toBe(`${'x'.repeat(75)}=\r\n=2E${'x'.repeat(72)}=\r\nxxFrom x`);
  });

  it('has room for text that needs the most soft breaks and escapes', () => {
    // Every line starts with a dot and breaks as early as possible, before a character of 12 columns.
    const text = `.${'x'.repeat(62)}😀`.repeat(3000);
    const { bytes } = encodeText(text, 'text_body', false);
    const decoded = bytes.toString('latin1').replaceAll('=\r\n', '');
    const octets = decoded.replace(/=(..)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    expect(Buffer.from(octets, 'latin1').toString('utf8')).toBe(text);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['half a character', 'a\ud83d'],
  ])('refuses %s', (_, text) => {
    expect(() => encodeText(text, 'html_body', true)).toThrow('invalid_text');
  });
});
