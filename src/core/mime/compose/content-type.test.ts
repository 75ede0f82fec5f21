import { describe, expect, it } from 'vitest';
import { parseContentType, toAttachmentType } from './content-type.ts';

describe('parseContentType', () => {
  it.each([
    ['a plain type', 'application/pdf', 'application/pdf', []],
    ['upper case', 'Text/HTML', 'text/html', []],
    ['a vendor type', 'application/vnd.ms-excel.sheet+x', 'application/vnd.ms-excel.sheet+x', []],
    ['a parameter', 'text/csv; charset=UTF-8', 'text/csv', [['charset', 'UTF-8']]],
    [
      'a quoted parameter',
      'a/b;x="y \\"z\\";";n=1',
      'a/b',
      [
        ['x', 'y "z";'],
        ['n', '1'],
      ],
    ],
    ['a trailing semicolon', 'a/b ; ', 'a/b', []],
    ['names and boundaries, which are ours', 'a/b; name=x; boundary=y; filename="z"; name*=u', 'a/b', []],
    ['a repeat', 'a/b;c=1;C=2', 'a/b', [['c', '1']]],
  ])('reads %s', (_, text, mediaType, parameters) => {
    expect(parseContentType(text, 'f')).toEqual({ mediaType, parameters });
  });

  it.each([
    ['nothing', ''],
    ['no slash', 'pdf'],
    ['no subtype', 'application/'],
    ['two slashes', 'a/b/c'],
    ['a space', 'a b/c'],
    ['a line break', 'a/b\r\nBcc: x'],
    ['a line break in a parameter', 'a/b; c="\r\nBcc: x"'],
    ['a line break at the end', 'a/b\n'],
    ['a non-ASCII letter', 'a/ü'],
    ['a non-ASCII parameter', 'a/b; c="ü"'],
    ['a parameter without value', 'a/b; c'],
    ['an open quote', 'a/b; c="d'],
    ['a comma', 'a/b, c/d'],
    ['a type of 128 characters', `${'a'.repeat(128)}/b`],
    ['an endless parameter', `a/b; c=${'d'.repeat(201)}`],
    ['endless white space', `a/b${' '.repeat(2000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parseContentType(text, 'attachments[0].content_type')).toThrow('invalid_content_type');
  });
});

describe('toAttachmentType', () => {
  it('sends as octets what must not be in base64 (RFC 2045 §6.4, RFC 2046 §5.2.1)', () => {
    for (const type of ['message/rfc822', 'multipart/mixed; x=y', 'message/external-body']) {
      const sent = toAttachmentType(parseContentType(type, 'f'));
      expect(sent).toEqual({ mediaType: 'application/octet-stream', parameters: [] });
    }
    expect(toAttachmentType(parseContentType('text/plain', 'f')).mediaType).toBe('text/plain');
  });
});
