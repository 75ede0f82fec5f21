import { describe, expect, it } from 'vitest';
import { inlineType, rasterImageType, SIGNATURE_BYTES } from './image-type.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1').subarray(0, SIGNATURE_BYTES);
const BMP = Buffer.concat([
  Buffer.from('BM'),
  Buffer.from([0x46, 0, 0, 0, 0, 0, 0, 0, 0x36, 0, 0, 0, 0x28, 0]),
]);

/** Each type with the first bytes of such a file. */
const IMAGES: readonly (readonly [type: string, start: Buffer])[] = [
  ['image/png', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  ['image/jpeg', bytes('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['image/gif', bytes('GIF87a\x01\0\x01\0')],
  ['image/gif', bytes('GIF89a\x01\0\x01\0')],
  ['image/webp', bytes('RIFF\x24\0\0\0WEBPVP8 ')],
  ['image/avif', bytes('\0\0\0\x20ftypavif\0\0\0\0')],
  ['image/bmp', BMP],
  ['image/x-icon', bytes('\0\0\x01\0\x02\0\x20\x20\0\0\x01\0\x20\0\xa8\x10')],
];

/** Files that a browser would run, or treat as something other than their type. */
const OTHERS: readonly (readonly [name: string, declared: string, start: Buffer])[] = [
  ['an SVG', 'image/svg+xml', bytes('<svg xmlns="http')],
  ['an SVG that says PNG', 'image/png', bytes('<svg xmlns="http')],
  ['HTML', 'text/html', bytes('<script>alert(1)')],
  ['HTML that says PDF', 'application/pdf', bytes('<script>%PDF-1.7')],
  ['HTML that says it is an image', 'image/gif', bytes('<html>GIF89a')],
  ['XHTML', 'application/xhtml+xml', bytes('<?xml version="1')],
  ['XML', 'text/xml', bytes('<?xml version="1')],
  ['a script', 'text/javascript', bytes('alert(1)')],
  ['a style sheet', 'text/css', bytes('a{}')],
  ['CSV', 'text/csv', bytes('a;b')],
  ['a calendar', 'text/calendar', bytes('BEGIN:VCALENDAR')],
  ['a program', 'application/octet-stream', bytes('MZ\x90\0')],
  ['text that begins with BM', 'application/octet-stream', bytes('BMW, Audi und VW')],
  ['RIFF of another kind', 'image/webp', bytes('RIFF\x24\0\0\0WAVEfmt ')],
  ['an icon without pictures', 'image/x-icon', bytes('\0\0\x01\0\0\0\x20\x20\0\0\x01\0')],
  ['a cursor', 'image/x-icon', bytes('\0\0\x02\0\x01\0\x20\x20\0\0\x01\0')],
  ['a video', 'video/mp4', bytes('\0\0\0\x20ftypisom\0\0\0\0')],
  ['nothing', 'image/png', Buffer.alloc(0)],
  ['less than a signature', 'image/png', bytes('\x89PN')],
  ['no type', '', bytes('a')],
];

describe('a file in a page', () => {
  it.each(IMAGES)('is %s by its bytes, whatever it is called', (type, start) => {
    expect(rasterImageType(start)).toBe(type);
    for (const declared of [type, 'text/html', 'image/svg+xml', '']) {
      expect(inlineType(declared, start)).toBe(type);
    }
  });

  it.each([
    ['application/pdf', '%PDF-1.7', 'application/pdf'],
    ['Application/PDF; name="a.pdf"', '%PDF-1.7', 'application/pdf'],
    ['text/plain', '<script>', 'text/plain'],
    ['TEXT/PLAIN; charset=utf-7', '+ADw-script', 'text/plain'],
    ['text/plain; charset=utf-8', 'ä', 'text/plain; charset=utf-8'],
    ['text/plain;format=flowed; Charset="ISO-8859-15" ; name=x', 'a', 'text/plain; charset=iso-8859-15'],
    ['text/plain; charset=utf-8x', 'a', 'text/plain'],
    ['text/plain; charset="utf-8\r\nX: y"', 'a', 'text/plain'],
  ])('of the type %s with %s is shown as %s', (declared, start, shown) => {
    expect(inlineType(declared, bytes(start))).toBe(shown);
  });

  it.each(OTHERS)('is only downloaded: %s', (_, declared, start) => {
    expect(rasterImageType(start)).toBeNull();
    expect(inlineType(declared, start)).toBeNull();
  });
});
