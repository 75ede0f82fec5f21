import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectCpuGrowthBelow } from '../../../test/readers/cpu-time.ts';
import { addressArbitrary, addressListTextArbitrary } from '../../../test/helpers/arbitrary/address.ts';
import { addrSpec, formatAddress } from './address.ts';
import { parseAddress } from './address-list.ts';
import { parseLenientAddressList } from './lenient-address-list.ts';

/** True for a text that is compared with addresses, as the rules of customers are. */
function isAddress(text: string): boolean {
  try {
    return addrSpec(parseAddress(text, 'from')).toLowerCase() === text.toLowerCase();
  } catch {
    return false;
  }
}

const read = (text: string): readonly string[] => parseLenientAddressList(text).addresses.map(formatAddress);

describe('parseLenientAddressList', () => {
  it.each([
    [
      'a comma in a name without quotes',
      'Muster, Max <m@x.test>, e@x.test',
      ['"Muster, Max" <m@x.test>', 'e@x.test'],
    ],
    ['semicolons', 'a@x.test; B <b@x.test>;', ['a@x.test', 'B <b@x.test>']],
    ['encoded words in quotes', '"=?utf-8?Q?M=C3=BCller?=" <m@x.test>', ['Müller <m@x.test>']],
    ['a raw comma in an encoded word', '=?utf-8?Q?M,_Max?= <m@x.test>', ['"M, Max" <m@x.test>']],
    ['encoded words without spaces', '=?utf-8?Q?a?==?utf-8?Q?b?=<m@x.test>', ['ab <m@x.test>']],
    ['the name as a comment', 'm@x.test (Max Muster)', ['Max Muster <m@x.test>']],
    ['a route', 'Max <@a.test,@b.test:m@x.test>', ['Max <m@x.test>']],
    ['groups', 'Team: a@x.test, b@x.test;, undisclosed-recipients:;', ['a@x.test', 'b@x.test']],
    ['an empty group in quotes', '"undisclosed-recipients:;"', []],
    ['an empty group in quotes and brackets', '"Undisclosed recipients:;" <>, a@x.test', ['a@x.test']],
    ['an empty group in brackets', '<undisclosed-recipients:;>', []],
    ['an empty group with a domain', '"undisclosed-recipients:;"@x.test', []],
    ['an empty group of another program', 'Recipient list suppressed: ;', []],
    ['mailto', 'mailto:a@x.test, <mailto:b@x.test>', ['a@x.test', 'b@x.test']],
    ['a lost bracket', 'Max <m@x.test, Eva <e@x.test>', ['Max <m@x.test>', 'Eva <e@x.test>']],
    ['a quote that never ends', '"Max <m@x.test>, e@x.test', ['"\\"Max" <m@x.test>', 'e@x.test']],
    ['an address in quotes', '"m@x.test"', ['m@x.test']],
    ['single quotes', "'m@x.test'", ['m@x.test']],
    ['a dot behind the domain', 'm@x.test.', ['m@x.test']],
    ['an international domain', 'm@Bücher.test', ['m@xn--bcher-kva.test']],
    ['nothing', ' , ;<>', []],
    ['a name and no brackets', 'Max Mustermann max@x.test', ['Max Mustermann <max@x.test>']],
    ['a title and no brackets', 'Dr. max@x.test', ['"Dr." <max@x.test>']],
    ['an encoded name and no brackets', '=?utf-8?Q?M=C3=BCller?= m@x.test', ['Müller <m@x.test>']],
    ['a name behind, and no brackets', 'max@x.test Max', ['Max <max@x.test>']],
    ['square brackets', 'Max [max@x.test]', ['Max <max@x.test>']],
    ['a lost opening bracket', 'Max max@x.test>, Eva <e@x.test>', ['Max <max@x.test>', 'Eva <e@x.test>']],
    ['a lost opening bracket and nothing else', 'max@x.test>', ['max@x.test']],
    ['a semicolon in a name', 'Mustermann; Max <max@x.test>', ['"Mustermann; Max" <max@x.test>']],
    ['the address as a comment', 'Max (max@x.test)', ['Max <max@x.test>']],
    ['two addresses split by a blank', 'a@x.test b@x.test', ['a@x.test', 'b@x.test']],
    ['many addresses split by blanks', 'a@x.test b@x.test  c@x.test', ['a@x.test', 'b@x.test', 'c@x.test']],
    ['two names split by blanks', 'Max m@x.test Eva e@x.test', ['Max <m@x.test>', 'Eva <e@x.test>']],
    ['name and address in one quote', '"Max max@x.test"', ['Max <max@x.test>']],
    ['name and address in one pair of brackets', '<Max max@x.test>', ['Max <max@x.test>']],
    ['brackets twice', 'Max <<max@x.test>>', ['Max <max@x.test>']],
    ['another name in brackets', 'Max <Vertrieb> <max@x.test>', ['Max <max@x.test>']],
    ['the address outside of the brackets', 'max@x.test <Max>', ['max@x.test']],
    ['white space around signs', 'max @ x . test', ['max@x.test']],
    ['a quoted local part among words', 'Max "max m"@x.test', ['Max <"max m"@x.test>']],
    ['an address literal among words', 'Max a@[192.0.2.1]', ['Max <a@[192.0.2.1]>']],
    ['a mailbox in an encoded word', '=?utf-8?B?Ind3IiA8d2FyQHRhYi50ZXN0Pg==?=', ['ww <war@tab.test>']],
    [
      'a mailbox in quoted-printable',
      '=?utf-8?Q?Max_Muster_=3Cmax=40x.test=3E?=',
      ['Max Muster <max@x.test>'],
    ],
    [
      'a mailbox in two encoded words',
      '=?utf-8?Q?Max_=3Cmax?= =?utf-8?Q?=40x.test=3E?=',
      ['Max <max@x.test>'],
    ],
    ['an address alone in an encoded word', '=?utf-8?B?bWF4QHgudGVzdA==?=', ['max@x.test']],
    ['an encoded address and empty brackets', '=?utf-8?Q?max=40x.test?= <>', ['max@x.test']],
    [
      'an address before one in an encoded word',
      '=?utf-8?Q?boss=40victim.test?= <max@x.test>',
      ['"boss@victim.test" <max@x.test>'],
    ],
    ['a zero-width space in an address', 'Max <max\u200b@x\u200b.test>', ['Max <max@x.test>']],
    ['a mark of direction around an address', '\u202amax@x.test\u202c', ['max@x.test']],
    ['a byte order mark in an address', '<\ufeffmax@x.test>', ['max@x.test']],
    ['a soft hyphen in an address', 'max.mus\u00adter@x.test', ['max.muster@x.test']],
  ])('reads %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('keeps what is no address with an empty domain, and says so', () => {
    expect(parseLenientAddressList('MAILER-DAEMON, Max <broken>, a@-x')).toEqual({
      addresses: [
        { name: 'MAILER-DAEMON, Max', localPart: 'broken', domain: '' },
        { name: '', localPart: 'a@-x', domain: '' },
      ],
      hasBroken: true,
      isCut: false,
    });
  });

  it.each([
    ['"Scanner Büro" <>', 'Scanner Büro'],
    ['Scanner Büro <>', 'Scanner Büro'],
    ['Scanner <>', 'Scanner'],
    ['"Scanner" <>', 'Scanner'],
    ['=?utf-8?Q?Scanner_B=C3=BCro?= <>', 'Scanner Büro'],
    ['=?utf-8?B?U2Nhbm5lciBCw7xybw==?=', 'Scanner Büro'],
    ['"Scanner Büro"', 'Scanner Büro'],
    ['Scanner Büro', 'Scanner Büro'],
    ['Büro', 'Büro'],
    ["'Scanner Büro'", "'Scanner Büro'"],
    ['<> (Scanner Büro)', 'Scanner Büro'],
    ['"Scanner, Büro" < >', 'Scanner, Büro'],
    ['"HP LaserJet 400" <>', 'HP LaserJet 400'],
    ['"Mail Delivery System" <>', 'Mail Delivery System'],
    ['Centro de Atención al Cliente', 'Centro de Atención al Cliente'],
    ['Service clientèle <>', 'Service clientèle'],
  ])('reads %s as a name without an address', (text, name) => {
    expect(parseLenientAddressList(text)).toEqual({
      addresses: [{ name, localPart: '', domain: '' }],
      hasBroken: true,
      isCut: false,
    });
  });

  it('makes no address of what is none', () => {
    const none = [
      'Max @home',
      'max@',
      '@x.test',
      'a@b@c d',
      'Max (at home @ 9)',
      'Max <Vertrieb>',
      'a @ b',
      'x@-y z',
    ];
    for (const text of none) {
      expect(parseLenientAddressList(text).addresses.filter(({ domain }) => domain.includes('.'))).toEqual(
        [],
      );
    }
  });

  it('stops at the given count, also within words', () => {
    expect(parseLenientAddressList('a@x.test b@x.test c@x.test', 2)).toMatchObject({
      addresses: { length: 2 },
      isCut: true,
    });
  });

  it.each(['a@x.test ', 'Max [a@x.test] ', '"a b" ', '"a@x.test b" ', '<a> ', 'a@ ', '[', '"x"@y.test '])(
    'needs time in proportion to the length for many %j',
    (unit) => {
      const make = (length: number): string => unit.repeat(Math.ceil(length / unit.length));
      // A quadratic parser would need 100 times as much.
      expectCpuGrowthBelow(40, parseLenientAddressList, make(20_000), make(200_000), 3);
    },
  );

  it('stops at the given count', () => {
    expect(parseLenientAddressList('a@x.test,'.repeat(100), 3)).toMatchObject({
      addresses: { length: 3 },
      isCut: true,
    });
  });

  it('reads back what was formatted', () => {
    fc.assert(
      fc.property(fc.array(addressArbitrary, { maxLength: 5 }), (list) => {
        const plain = list.map((address) => ({ ...address, name: '' }));
        expect(parseLenientAddressList(plain.map(addrSpec).join(', ')).addresses).toEqual(plain);
      }),
      { numRuns: 2000 },
    );
  });

  it('reports characters that it left out of an address', () => {
    expect(parseLenientAddressList('max\u200b@x.test').hasBroken).toBe(true);
    expect(parseLenientAddressList('Max\u200b <max@x.test>').hasBroken).toBe(false);
  });

  it('leaves nothing without a domain that is the text of an address', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'ada@victim.test',
        '"',
        "'",
        '<',
        '>',
        '(',
        ')',
        ' ',
        ',',
        ':',
        ';',
        '[',
        ']',
        '\\',
        '\u200b',
      ),
      fc.constantFrom(
        '=?utf-8?B?YWRhQHZpY3RpbS50ZXN0?=',
        '=?utf-8?Q?ada=40victim.test?=',
        '=?utf-8?Q?=22ada=40victim?=',
      ),
      fc.constantFrom(
        '@',
        'ada',
        'victim.test',
        '=40',
        '\0',
        '\ud800',
        '.',
        'mailto:',
        '‘',
        '’',
        'x'.repeat(300),
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const unread = parseLenientAddressList(pieces.join('')).addresses.filter(
          ({ domain }) => domain === '',
        );
        expect(unread.filter(({ localPart }) => isAddress(localPart))).toEqual([]);
      }),
      { numRuns: 10_000 },
    );
  });

  it('of any text never throws and gives no control characters', () => {
    fc.assert(
      fc.property(fc.oneof(addressListTextArbitrary, fc.string({ unit: 'binary' })), (text) => {
        for (const { name, localPart } of parseLenientAddressList(text).addresses) {
          expect(name + localPart).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
