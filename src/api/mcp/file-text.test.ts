import { describe, expect, it } from 'vitest';
import { mayBeText, textPieceOf } from './file-text.ts';

const PIECE = 8;

/** All pieces of a file, read one after the other. */
function read(file: Uint8Array): string | null {
  let whole = '';
  for (let offset: number | null = 0; offset !== null;) {
    const piece = textPieceOf(file.subarray(offset, offset + PIECE), offset, file.length);
    if (piece === null) return null;
    whole += piece.untrusted_text;
    offset = piece.next_offset;
  }
  return whole;
}

describe('a file', () => {
  it.each([
    ['nothing', ''],
    ['ASCII', 'Kunde;Betrag\r\nAda;12\r\n'],
    ['characters of two to four bytes', 'äöü€€€€😀😀😀ßßß漢字漢字😀'],
    ['as much as one piece', '12345678'],
    ['one byte more than a piece', '123456789'],
    ['a character across the end of a piece', '1234567😀'],
    ['tabs and form feeds', 'a\tb\f\nc'],
  ])('in UTF-8 with %s is read whole, by pieces', (_, text) => {
    expect(read(Buffer.from(text))).toBe(text);
  });

  it('in Windows-1252 is read as it is', () => {
    const text = 'Gr\u00fc\u00dfe aus M\u00fcnchen';
    expect(read(Buffer.from(text, 'latin1'))).toBe(text);
  });

  it('begins with a whole character wherever it is read from', () => {
    const bytes = Buffer.from('😀ab');
    expect(textPieceOf(bytes.subarray(2), 2, bytes.length)).toEqual({
      untrusted_text: 'ab',
      next_offset: null,
    });
  });

  it.each([
    ['a NUL', Buffer.from('a\u0000b')],
    ['UTF-16', Buffer.from('Hallo', 'utf16le')],
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ])('with %s is no text', (_, bytes) => {
    expect(read(bytes)).toBeNull();
  });

  it.each([
    ['text/plain; charset=utf-8', true],
    ['text/csv', true],
    ['application/json', true],
    ['application/vnd.api+json', true],
    ['application/octet-stream', true],
    ['message/rfc822', true],
    ['application/pdf', false],
    ['image/svg', false],
    ['application/jsonx', false],
    ['', false],
  ])('of the type %s may be text: %s', (type, expected) => {
    expect(mayBeText(type)).toBe(expected);
  });
});
