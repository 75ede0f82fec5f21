import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTransfer, decodeTransferStream } from './transfer-decoding.ts';
import { runs } from '../../../../test/helpers/runs.ts';

const encodedArbitrary = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(
      fc.constantFrom('=', '=4', '=41', '=\r\n', '= \r\n', ' ', '\t', '\r\n', '\n', '\r', 'QUJD', 'Q', '=='),
      {
        maxLength: 60,
      },
    )
    .map((tokens) => Buffer.from(tokens.join(''))),
);

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function* slice(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('transfer decoding', () => {
  it('gives the same as a stream, whatever the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        encodedArbitrary,
        fc.constantFrom('base64' as const, 'quoted-printable' as const, 'identity' as const),
        fc.integer({ min: 1, max: 9 }),
        async (encoded, encoding, size) => {
          const streamed = await collect(decodeTransferStream(slice(encoded, size), encoding));
          expect(streamed.toString('hex')).toBe(decodeTransfer(encoded, encoding).toString('hex'));
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it.each([
    ['a soft line break', 'a=\r\nb', 'ab'],
    ['a soft line break behind white space', 'a= \t\r\nb', 'ab'],
    ['a soft line break at the end', 'a=', 'a'],
    ['white space at line ends', 'a \t\r\nb ', 'a\r\nb'],
    ['lower-case digits', '=c3=bc', 'ü'],
    ['what is no code', '1=2, =ZZ, =4', '1=2, =ZZ, =4'],
  ])('reads %s of quoted-printable', (_, encoded, expected) => {
    expect(decodeTransfer(Buffer.from(encoded), 'quoted-printable').toString()).toBe(expected);
  });

  it.each([
    ['lines', 'QUJD\r\nREVG\r\n', 'ABCDEF'],
    ['no padding', 'QUI', 'AB'],
    ['padding in the middle', 'QQ==QkM=', 'ABC'],
    ['foreign characters', 'Q.U!J D', 'ABC'],
  ])('reads base64 with %s', (_, encoded, expected) => {
    expect(decodeTransfer(Buffer.from(encoded), 'base64').toString()).toBe(expected);
  });
});
