import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/helpers/runs.ts';
import { newText } from './reply-text.ts';

const WORDS = [
  'Von:',
  'An:',
  'Datum:',
  'Betreff:',
  'Gesendet:',
  'From:',
  'Sent:',
  'Am',
  'am',
  'On',
  'um',
  'Uhr',
  'Mai',
  'Montag,',
  'schrieb',
  'wrote:',
  'geschrieben:',
  'Eva',
  'Bremen',
  'Gesendet mit',
  'Sent from my',
  'warehouse',
  '--',
  '---',
  '________',
  '>',
  '>>',
  ':',
];
const NUMBERS = ['12.', '2026', '12.05.2026', '10:00', '12.05.26', '09.15', '100 kg'];

/** Text of these words in lines, some of which are empty. */
const text = (words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.array(fc.constantFrom(...words), { maxLength: 7 }), { maxLength: 30 })
    .map((lines) => lines.map((line) => line.join(' ')).join('\n'));

const whole = (given: string): string => given.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();

describe('newText', () => {
  it('gives back all of a mail that answers nothing and has no address', () => {
    fc.assert(
      fc.property(text([...WORDS, ...NUMBERS]), (given) => {
        expect(newText(given, null, { isReply: false, isForward: false, sender: null })).toBe(whole(given));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('gives back all of an answer without dates, signatures and marks of quotes', () => {
    // An address below hyphens is a signature.
    const words = WORDS.filter((word) => !word.startsWith('>') && word !== '--');
    fc.assert(
      fc.property(text([...words, 'eva@example.com', '<eva@example.com>']), (given) => {
        expect(newText(given, null, { isReply: true, isForward: false, sender: null })).toBe(whole(given));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('gives only lines of the text, in their order', () => {
    const words = [...WORDS, ...NUMBERS, 'eva@example.com', '<eva@example.com>:'];
    fc.assert(
      fc.property(text(words), fc.boolean(), (given, isReply) => {
        const lines = given.split('\n').map((line) => line.trimEnd());
        let from = 0;
        for (const line of newText(given, null, { isReply, isForward: false, sender: null }).split('\n')) {
          if (line.trim() === '') continue;
          const at = lines.findIndex((of, index) => index >= from && of.startsWith(line.trimEnd()));
          expect(at).toBeGreaterThanOrEqual(from);
          from = at;
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});
