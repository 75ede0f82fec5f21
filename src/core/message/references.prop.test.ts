import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageIdArbitrary, messageIdListArbitrary } from '../../../test/helpers/arbitrary/message-id.ts';
import { MAX_PARSED_REFERENCES, MAX_REFERENCES, MAX_REFERENCES_OCTETS } from './limits.ts';
import { formatMessageId } from './message-id.ts';
import { buildReferences, parseMessageIdList } from './references.ts';
import { runs } from '../../../test/helpers/runs.ts';

describe('References', () => {
  it('of an answer end with the parent, start with the first, keep the order and stay within bounds', () => {
    fc.assert(
      fc.property(messageIdArbitrary, messageIdListArbitrary, (messageId, references) => {
        const built = buildReferences({ messageId, references });
        const all = [...new Set(references)].filter((id) => id !== messageId).concat(messageId);
        expect(built.at(-1)).toBe(messageId);
        expect(built[0]).toBe(all[0]);
        expect(all.filter((id) => built.includes(id))).toEqual(built);
        expect(built.length).toBeLessThanOrEqual(MAX_REFERENCES);
        expect(Buffer.byteLength(built.map((id) => `\r\n <${id}>`).join(''))).toBeLessThanOrEqual(
          MAX_REFERENCES_OCTETS,
        );
      }),
    );
  });

  it('read back what was written, folded anywhere between ids', () => {
    const separator = fc.constantFrom(' ', '\r\n ', '\r\n\t', '', ',', ' (c) ');
    fc.assert(
      fc.property(messageIdListArbitrary, separator, (all, between) => {
        const ids = all.slice(0, MAX_PARSED_REFERENCES);
        const text = ids.map(formatMessageId).join(between);
        expect(parseMessageIdList(text)).toEqual(
          [...new Set(ids)].filter((id) => id.split('"').length % 2 === 1),
        );
      }),
    );
  });

  it('read back in encoded words of any length', () => {
    fc.assert(
      fc.property(messageIdListArbitrary, fc.integer({ min: 20, max: 60 }), (all, size) => {
        const ids = all.slice(0, MAX_PARSED_REFERENCES);
        const hex = Buffer.from(ids.map(formatMessageId).join(' ')).toString('hex').toUpperCase();
        const words = hex.match(new RegExp(`.{1,${size * 2}}`, 'g')) ?? [];
        const text = words.map((word) => `=?utf-8?q?${word.replace(/../g, '=$&')}?=`).join('\r\n ');
        expect(parseMessageIdList(text)).toEqual(parseMessageIdList(ids.map(formatMessageId).join(' ')));
      }),
    );
  });

  it('of any text give ids that can stand in a header', () => {
    const tokens = fc.constantFrom(
      '<',
      '>',
      '@',
      '"',
      '(',
      ')',
      '\\',
      ' ',
      '\r\n',
      ',',
      'a',
      'b@x',
      '=?utf-8?q?',
      '?=',
      '=3C',
      '=0A',
      '\0',
      '\ud800',
      'ü',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(tokens).map((t) => t.join('')),
        ),
        (text) => {
          const ids = parseMessageIdList(text);
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(id).toMatch(/^[^\s<>\p{Cc}\p{Cs}]+$/u);
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
