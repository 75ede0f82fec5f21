import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineFaultFinder } from './line-fault.ts';

function faultOf(chunks: readonly Buffer[]) {
  const finder = new LineFaultFinder();
  for (const chunk of chunks) finder.write(chunk);
  return finder.end();
}

it.each([
  ['a\r\nb\r\n', null],
  ['', null],
  ['a\nb\r\n', 'bare_lf'],
  ['\n', 'bare_lf'],
  ['a\rb\r\n', 'bare_cr'],
  ['a\r\r\n', 'bare_cr'],
  ['a\r', 'bare_cr'],
  ['a\0b\r\n', 'nul'],
])('finds in %j: %s', (text, fault) => {
  expect(faultOf([Buffer.from(text)])).toBe(fault);
});

it.each([
  ['abcd\r\nabcd\r\n', null],
  ['abcde\r\n', 'long_line'],
  ['a\r\nabcde', 'long_line'],
  ['abcde\n', 'bare_lf'],
])('finds lines above 4 octets, wherever the chunks are cut: %j: %s', (text, fault) => {
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const finder = new LineFaultFinder(4);
    for (const chunk of [bytes.subarray(0, cut), bytes.subarray(cut)]) finder.write(chunk);
    expect(finder.end()).toBe(fault);
  }
});

it('finds a fault wherever the chunks are cut, and none in lines that end in CRLF', () => {
  const pieces = fc.array(fc.constantFrom('\r', '\n', '\r\n', '\0', 'a', '.'), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(12), { maxLength: 4 }), (texts, cuts) => {
      const bytes = Buffer.from(texts.join(''));
      const borders = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
      expect(faultOf(chunks) !== null).toBe(/\0|\r(?!\n)|(?<!\r)\n/.test(bytes.toString()));
    }),
    { numRuns: 5000 },
  );
});
