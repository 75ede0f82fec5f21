import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressArbitrary, addressListTextArbitrary } from '../../../test/helpers/arbitrary/address.ts';
import { ServiceError } from '../errors.ts';
import { addrSpec, formatAddress, type Address } from './address.ts';
import { parseAddressList } from './address-list.ts';
import { runs } from '../../../test/helpers/runs.ts';

/** A refused text counts as an empty list here; any other error fails the test. */
function parsedOrRefused(text: string): readonly Address[] {
  try {
    return parseAddressList(text, 'to');
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}

describe('address lists', () => {
  it('read back what was formatted', () => {
    fc.assert(
      fc.property(
        fc.array(addressArbitrary, { maxLength: 5 }),
        fc.constantFrom(', ', ';', ' ,, '),
        (list, separator) => {
          expect(parseAddressList(list.map(formatAddress).join(separator), 'to')).toEqual(list);
        },
      ),
      {
        numRuns: runs(1000),
        examples: [
          [[{ name: '=?utf-8?q?x?=', localPart: 'a', domain: 'x.test' }], ', '],
          [[{ name: 'a\u00a0b', localPart: 'a', domain: 'x.test' }], ', '],
        ],
      },
    );
  });

  it('read back without names too', () => {
    fc.assert(
      fc.property(addressArbitrary, (address) => {
        expect(parseAddressList(addrSpec(address), 'to')).toEqual([{ ...address, name: '' }]);
      }),
    );
  });

  it('of any text: the first mistake that is noted is the one that is thrown, and reading comes to an end', () => {
    fc.assert(
      fc.property(fc.oneof(addressListTextArbitrary, fc.string({ unit: 'binary' })), (text) => {
        const noted: string[] = [];
        const read = parseAddressList(text, 'to', (mistake) => noted.push(mistake.text));
        let thrown: string | undefined;
        try {
          expect(parseAddressList(text, 'to')).toEqual(read);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          thrown = error.text;
        }
        expect(noted[0]).toBe(thrown);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('of any text give valid addresses or a ServiceError, and never a control character', () => {
    fc.assert(
      fc.property(fc.oneof(addressListTextArbitrary, fc.string({ unit: 'binary' })), (text) => {
        const list = parsedOrRefused(text);
        for (const address of list) {
          expect(formatAddress(address)).not.toMatch(/[\p{Cc}\p{Cs}]/u);
          expect(address.domain).toMatch(/^(?:[a-z0-9_.-]+|\[[\d.]+\]|\[IPv6:[\da-f:.]+\])$/);
          expect(address.localPart).not.toBe('');
        }
        expect(parseAddressList(list.map(formatAddress).join(','), 'to')).toEqual(list);
      }),
      { numRuns: runs(5000) },
    );
  });
});
