/** Generators of addresses, as parseAddressList returns them and as people and attackers write them. */
import * as fc from 'fast-check';
import type { Address } from '../../../src/core/address/address.ts';

const LABEL = fc
  .stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,10}[a-z0-9])?$/)
  .filter((label) => !label.startsWith('xn--'));
const TOP_LABEL = fc.constantFrom('com', 'de', 'test', 'localhost', 'xn--p1ai');
const LITERAL = fc.constantFrom('[192.0.2.1]', '[IPv6:2001:db8::1]', '[IPv6:::1]');

const domainArbitrary: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.array(LABEL, { maxLength: 3 }), TOP_LABEL).map(([l, t]) => [...l, t].join('.')),
  },
  { weight: 1, arbitrary: LITERAL },
);

/** Plain, quoted and non-ASCII local parts of at most 64 octets. */
const localPartArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(?:\.[a-z0-9]{1,10}){0,2}$/),
  fc.string({ unit: fc.constantFrom(...'ab.,;:@<>()[]"\\ \''), minLength: 1, maxLength: 15 }),
  fc.string({
    unit: fc.constantFrom('ä', 'ß', '用', '户', 'и', '😀', 'a', '.'),
    minLength: 1,
    maxLength: 12,
  }),
);

/** Display names as people have them, plus every character that a parser may stumble over; no controls and byte order marks. */
const nameArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    'Max Muster',
    'Dr. Max Müller',
    'Müller, GmbH & Co. KG',
    '=?utf-8?q?x?=',
    '王小明',
    ' x ',
  ),
  fc.string({
    unit: fc.constantFrom(...'ab.,;:@<>()[]"\\ =?_\'', 'ü', '😀', '\u00a0', '\u200f'),
    maxLength: 40,
  }),
  fc
    .string({ unit: 'binary', maxLength: 40 })
    .map((text) => text.toWellFormed().replace(/\p{Cc}|\ufeff/gu, '')),
);

export const addressArbitrary: fc.Arbitrary<Address> = fc.record({
  name: nameArbitrary,
  localPart: localPartArbitrary,
  domain: domainArbitrary,
});

/** Text that is nearly an address list: the tokens of one in any order. */
export const addressListTextArbitrary: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(',', ';', ':', '<', '>', '@', '"', '\\', '(', ')', '[', ']', ' ', '\t', '.', '\u00a0'),
      fc.constantFrom(
        'a@x.de',
        '<b@y.test>',
        'Team:',
        'Max',
        '"M, x"',
        '(c)',
        '[192.0.2.1]',
        '=?utf-8?q?=0D=0A?=',
      ),
      fc.constantFrom('ä', 'xn--', '\r\n', '\0', '\ud800', '用户@例え.jp'),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 30 },
  )
  .map((tokens) => tokens.join(''));
