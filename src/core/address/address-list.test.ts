import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../test/readers/cpu-time.ts';
import { ServiceError } from '../errors.ts';
import { formatAddress } from './address.ts';
import { parseAddress, parseAddressList } from './address-list.ts';

const read = (text: string): readonly string[] => parseAddressList(text, 'to').map(formatAddress);

/** null when the text is a list. */
function refusalOf(text: string): ServiceError | null {
  try {
    parseAddressList(text, 'cc');
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

describe('parseAddressList', () => {
  it.each([
    ['one address', 'max@example.com', ['max@example.com']],
    ['an empty text', '  ', []],
    [
      'several, with names',
      'Max Muster <max@example.com>, eva@example.org',
      ['Max Muster <max@example.com>', 'eva@example.org'],
    ],
    ['a comma in quotes', '"Muster, Max" <max@example.com>', ['"Muster, Max" <max@example.com>']],
    ['escapes in quotes', '"a \\"b\\" \\\\" <max@example.com>', ['"a \\"b\\" \\\\" <max@example.com>']],
    [
      'umlauts and dots without quotes',
      'Dr. Jürgen Müller <j@example.com>',
      ['"Dr. Jürgen Müller" <j@example.com>'],
    ],
    ['comments', '(x (y)) Max (z) <(c)max(d)@(e)example.com(f)> (g)', ['Max <max@example.com>']],
    ['white space around @', 'max @ example.com', ['max@example.com']],
    [
      'a group',
      'Team: a@example.com, B <b@example.com>;, c@example.com',
      ['a@example.com', 'B <b@example.com>', 'c@example.com'],
    ],
    ['an empty group', 'undisclosed-recipients:;', []],
    ['semicolons, seen from Outlook', 'A <a@x.test>; b@x.test;', ['A <a@x.test>', 'b@x.test']],
    ['empty elements', ', a@x.test,, b@x.test,', ['a@x.test', 'b@x.test']],
    ['no-break spaces from copied text', 'Max\u00a0Muster <max@x.test>\u00a0', ['Max Muster <max@x.test>']],
    ['an encoded word', '=?iso-8859-1?Q?M=FCller=2C_Max?= <m@x.test>', ['"Müller, Max" <m@x.test>']],
    [
      'encoded words that share a character',
      '=?utf-8?B?w?= =?utf-8?B?w7w=?= =?UTF-8*de?q?=C3?= =?utf-8?q?=BC?= <m@x.test>',
      ['üü <m@x.test>'],
    ],
    ['no encoded word in quotes', '"=?utf-8?q?x?=" <m@x.test>', ['"=?utf-8?q?x?=" <m@x.test>']],
    ['an encoded word of an unknown charset', '=?klingon?q?x?= <m@x.test>', ['"=?klingon?q?x?=" <m@x.test>']],
    ['a quoted local part', '"max muster"@x.test', ['"max muster"@x.test']],
    ['a needlessly quoted local part', '"max"@x.test', ['max@x.test']],
    ['a single-label domain', 'root@localhost', ['root@localhost']],
    ['an upper-case domain', 'Max@EXAMPLE.Com', ['Max@example.com']],
    ['an international domain', 'info@Bücher.example', ['info@xn--bcher-kva.example']],
    ['an international local part', '用户@例え.jp', ['用户@xn--r8jz45g.jp']],
    ['an IPv4 literal', 'a@[192.0.2.1]', ['a@[192.0.2.1]']],
    ['an IPv6 literal', 'a@[ipv6:2001:DB8:0::1]', ['a@[IPv6:2001:db8::1]']],
    ['a local part of 64 octets', `${'a'.repeat(64)}@x.test`, [`${'a'.repeat(64)}@x.test`]],
    ['an empty quoted name', '"" <a@x.test>', ['a@x.test']],
  ])('reads %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['text without an address', 'max', 'max'],
    ['a comma in a name without quotes', 'Müller, GmbH <m@x.test>', 'Müller'],
    ['the second of two', 'a@x.test, b@', 'b@'],
    ['two addresses without separator', 'a@x.test b@x.test', 'a@x.test b@x.test'],
    ['no local part', '@x.test', '@x.test'],
    ['an empty quoted local part', '""@x.test', '""@x.test'],
    ['an empty domain', 'a@', 'a@'],
    ['two @', 'a@b@x.test', 'a@b@x.test'],
    ['empty brackets', 'Max <>', 'Max <>'],
    ['an open bracket', 'Max <a@x.test', 'Max <a@x.test'],
    ['a stray bracket', 'a@x.test>', 'a@x.test>'],
    ['an open quote', '"Max <a@x.test>', '"Max <a@x.test>'],
    ['an open comment', 'a@x.test (b', 'a@x.test (b'],
    ['an open group', 'Team: a@x.test', 'Team: a@x.test'],
    ['a group in a group', 'A: B: c@x.test;;', 'B: c@x.test'],
    ['a group without a name', ': a@x.test;', ': a@x.test'],
    ['a mailto link', 'mailto:a@x.test', 'mailto:a@x.test'],
    ['a route', '<@a.test:b@x.test>', '<@a.test:b@x.test>'],
    ['a leading dot', '.a@x.test', '.a@x.test'],
    ['a trailing dot', 'a.@x.test', 'a.@x.test'],
    ['two dots', 'a..b@x.test', 'a..b@x.test'],
    ['a space in a local part', 'max muster@x.test', 'max muster@x.test'],
    ['a trailing dot of the domain', 'a@x.test.', 'a@x.test.'],
    ['a label that starts with a hyphen', 'a@-x.test', 'a@-x.test'],
    ['a port behind an international domain', 'a@ü.test:25', 'a@ü.test:25'],
    ['a path behind an international domain', 'a@ü.test/x', 'a@ü.test/x'],
    ['an IPv4 address without brackets', 'a@192.0.2.1', 'a@192.0.2.1'],
    ['an IPv4 literal out of range', 'a@[192.0.2.256]', 'a@[192.0.2.256]'],
    ['a bad IPv6 literal', 'a@[IPv6:1::2::3]', 'a@[IPv6:1::2::3]'],
    ['an unknown literal', 'a@[x400:c=de]', 'a@[x400:c=de]'],
    ['a local part of 65 octets', `${'a'.repeat(65)}@x.test`, `${'a'.repeat(65)}@x.test`],
    ['a local part that is too long in octets only', `${'ü'.repeat(33)}@x.test`, `${'ü'.repeat(33)}@x.test`],
    ['a label of 64 octets', `a@${'b'.repeat(64)}.test`, `a@${'b'.repeat(64)}.test`],
    ['an address of more than 254 octets', `a@${'b.'.repeat(130)}test`, `a@${'b.'.repeat(130)}test`],
    ['an invisible mark in a local part', 'a\u202eb@x.test', 'a\u202eb@x.test'],
    ['half a character', 'a\ud800@x.test', 'a\ud800@x.test'],
    ['a stray backslash', 'a\\b@x.test', 'a\\b@x.test'],
  ])('names %s as the bad element', (_, text, value) => {
    const error = refusalOf(text);
    expect(error?.code).toBe('invalid_address');
    expect(error?.text).toContain('cc');
    expect(error?.text.endsWith(`: ${value.length > 200 ? `${value.slice(0, 200)}…` : value}`)).toBe(true);
  });

  it.each([
    ['a line break', 'a@x.test\r\nBcc: b@x.test'],
    ['a bare line feed', 'Max\n <a@x.test>'],
    ['a NUL', 'a\0@x.test'],
    ['an escaped control', '"a\\\u0007" <a@x.test>'],
    ['an encoded line break', '=?utf-8?q?x=0D=0ABcc=3A_b=40x.test?= <a@x.test>'],
    ['a C1 control', 'a\u0085@x.test'],
  ])('refuses %s as header injection', (_, text) => {
    expect(refusalOf(text)?.code).toBe('header_injection');
  });

  it('takes a tab as white space, also in quotes', () => {
    expect(read('Max\tMuster\t<a@x.test>,\t"b\tc" <d@x.test>')).toEqual([
      'Max Muster <a@x.test>',
      'b c <d@x.test>',
    ]);
  });

  it('refuses a text beyond its limit, an endless name and endless comments', () => {
    expect(refusalOf('a@x.test,'.repeat(20_000))?.code).toBe('invalid_address');
    expect(refusalOf(`${'x '.repeat(300)}<a@x.test>`)?.code).toBe('invalid_address');
    expect(refusalOf(`${'('.repeat(17)}${')'.repeat(17)}a@x.test`)?.code).toBe('invalid_address');
  });

  it.each([
    '(',
    '"',
    '<',
    'a ',
    'a:',
    '@',
    '\\',
    '(\\',
    '=?utf-8?q?a?= ',
    '\u00a0',
    '[',
    'a@[',
    'x;',
    'ü@ü.',
  ])('needs a time that grows with the length only, for many %j', (unit) => {
    const text = unit.repeat(Math.floor(100_000 / unit.length));
    expectCpuBelow(1000, () => refusalOf(text));
  });
});

describe('parseAddress', () => {
  it('reads exactly one', () => {
    expect(parseAddress('Service <s@x.test>', 'MAIL_FROM')).toEqual({
      name: 'Service',
      localPart: 's',
      domain: 'x.test',
    });
    expect(() => parseAddress('a@x.test, b@x.test', 'MAIL_FROM')).toThrow('invalid_address');
    expect(() => parseAddress('', 'MAIL_FROM')).toThrow('invalid_address');
  });
});
