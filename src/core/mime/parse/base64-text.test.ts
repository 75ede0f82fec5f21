import { describe, expect, it } from 'vitest';
import { parseMessage } from './parse.ts';

const textOf = (...lines: readonly string[]): string =>
  parseMessage(
    Buffer.from(
      ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', '', ...lines, ''].join(
        '\r\n',
      ),
    ),
  ).text;

/** A multiple of three bytes: no padding. */
const UNPADDED = Buffer.from('Guten Tag zusammen und bis morgen dann, Max.')
  .subarray(0, 42)
  .toString('base64');

describe('a text in Base64', () => {
  it.each([
    [
      'behind padding',
      ['R3LDvA==', 'Dies ist die Liste, bitte antworten Sie hier'],
      'Grü\nDies ist die Liste, bitte antworten Sie hier',
    ],
    [
      'below a rule, behind padding',
      [
        'R3LDvA==',
        '_______________________________________________',
        'Liste mailing list',
        'liste@lists.example.org',
      ],
      'Grü\n_______________________________________________\nListe mailing list\nliste@lists.example.org',
    ],
    [
      'below a rule, without padding before',
      [UNPADDED, '--------', 'Unsubscribe at https://lists.example.org/'],
      'Guten Tag zusammen und bis morgen dann, Ma\n--------\nUnsubscribe at https://lists.example.org/',
    ],
    [
      'below an empty line, in UTF-8',
      [UNPADDED, '', 'Viele Grüße von der Liste'],
      'Guten Tag zusammen und bis morgen dann, Ma\nViele Grüße von der Liste',
    ],
    ['that is clear text as a whole', ['', 'This is no Base64 at all.'], 'This is no Base64 at all.'],
  ])('keeps the footer %s', (_, lines, expected) => {
    expect(textOf(...lines).replace(/^\n+/, '')).toBe(expected);
  });

  it.each([
    ['joined pieces', ['R3LDvA==', 'w59l'], 'Grüße'],
    ['joined pieces with an empty line between', ['R3LDvA==', '', 'w59l'], 'Grüße'],
    ['foreign characters', ['R3LDvA==', 'w59l!!'], 'Grüße'],
  ])('reads on over %s', (_, lines, expected) => {
    expect(textOf(...lines)).toBe(expected);
  });
});
