import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Base64Decoder, decodeBase64 } from './base64-decoder.ts';
import { runs } from '../../../../test/helpers/runs.ts';

/** Texts that are nearly Base64, so that both outcomes are frequent. */
const nearlyBase64 = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.uint8Array({ maxLength: 40 }).map((b) => Buffer.from(b).toString('base64')),
      },
      { weight: 3, arbitrary: fc.constantFrom('\r\n', ' ', '\t', '\n') },
      {
        weight: 2,
        arbitrary: fc.constantFrom('A', 'QQ', 'QUI', 'QUJD', '=', '==', '-', '_', 'é', '\u0141', '\v'),
      },
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

function reference(text: string): string | null {
  const compact = text.replace(/[ \t\r\n]/g, '');
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact);
  return valid ? Buffer.from(compact, 'base64').toString('hex') : null;
}

describe('decodeBase64', () => {
  it('gives the bytes back that were encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase64(Buffer.from(bytes).toString('base64'))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('takes exactly RFC 4648 section 4 with padding and white space', () => {
    fc.assert(
      fc.property(nearlyBase64, (text) => {
        expect(decodeBase64(text)?.toString('hex') ?? null).toBe(reference(text));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('gives the same result wherever the text is cut', () => {
    fc.assert(
      fc.property(nearlyBase64, fc.array(fc.nat({ max: 5 }), { minLength: 1 }), (text, lengths) => {
        const decoder = new Base64Decoder();
        const parts: Buffer[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const length = (lengths[turn % lengths.length] ?? 0) + (turn % 2);
          parts.push(decoder.push(text.slice(at, at + length)));
          at += length;
        }
        parts.push(decoder.end());
        expect(decoder.valid ? Buffer.concat(parts).toString('hex') : null).toBe(reference(text));
      }),
      { numRuns: runs(2000) },
    );
  });

  it.each([
    ['QUJ', 'cut in the middle of a group'],
    ['QQ', 'padding forgotten'],
    ['QQ=', 'one of two padding characters'],
    ['QUI==', 'too much padding'],
    ['====', 'padding alone'],
    ['QQ==QQ==', 'two texts joined'],
    ['Q', 'one character'],
    ['\u0141\u0141\u0141\u0141', 'letters whose low byte is one of the alphabet'],
    ['_-_-', 'the URL alphabet of section 5'],
    ['data:text/plain;base64,QQ==', 'a data URL'],
  ])('refuses %j: %s', (text) => {
    expect(decodeBase64(text)).toBeNull();
  });

  it.each([
    ['', ''],
    ['QQ==', 'A'],
    ['Q Q\r\n=\t=', 'A'],
    ['QUI=\r\n', 'AB'],
    ['QR==', 'A'],
  ])('decodes %j', (text, expected) => {
    expect(decodeBase64(text)?.toString('latin1')).toBe(expected);
  });
});
