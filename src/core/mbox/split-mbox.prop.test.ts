import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinMbox, splitMbox } from '../../../test/helpers/mbox.ts';
import { runs } from '../../../test/helpers/runs.ts';

const lineEnd = fc.constantFrom('\n', '\r\n');

/** Lines that are nearly separators or quotes are likelier than others. */
const line = fc.oneof(
  fc.constantFrom(
    '',
    'From ',
    'From ada@example.com Mon Jan  5 10:00:00 2026',
    'From here on',
    '>From x',
    '>>From ',
    '>',
    'Subject: x',
    'Fro',
    'F',
    '\r',
  ),
  fc.string({
    unit: fc.constantFrom('>', 'F', 'r', 'o', 'm', ' ', ':', '\r', 'ä', '\0', 'x'),
    maxLength: 12,
  }),
);

const text = fc
  .array(fc.tuple(line, lineEnd), { maxLength: 12 })
  .map((lines) => lines.map(([content, end]) => content + end).join(''));
/** Also after a byte order mark, or a part of one. */
const file = fc
  .tuple(fc.constantFrom('', '', '\xef', '\xef\xbb', '\xef\xbb\xbf'), text)
  .map(([begin, rest]) => begin + rest);
const sizes = fc.array(fc.nat({ max: 9 }), { maxLength: 60 });

describe('mbox', () => {
  it('borders of chunks do not matter', () => {
    fc.assert(
      fc.property(file, sizes, (file, sizes) => {
        expect(splitMbox(file, sizes)).toEqual(splitMbox(file));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('split after join is identity', () => {
    // With the line end of the message, as MUAs write; an empty line that follows is the file's.
    const message = fc.tuple(fc.array(line, { maxLength: 12 }), lineEnd);
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), lineEnd, (parts, end) => {
        const messages = parts.map(([lines, lineEnd]) => ['A: 1', ...lines].map((l) => l + lineEnd).join(''));
        expect(splitMbox(joinMbox(messages, end))).toEqual(messages);
      }),
      { numRuns: runs(2000) },
    );
  });
});
