import { describe, expect, it } from 'vitest';
import { addrSpec, dedupeAddresses, formatAddress, sameMailbox, type Address } from './address.ts';

const address = (localPart: string, domain = 'x.test', name = ''): Address => ({ name, localPart, domain });

describe('addrSpec', () => {
  it.each([
    ['max.muster+tag', 'max.muster+tag@x.test'],
    ['max muster', '"max muster"@x.test'],
    ['a"b\\c', '"a\\"b\\\\c"@x.test'],
    ['.a', '".a"@x.test'],
    ['用户', '用户@x.test'],
  ])('writes the local part %s', (localPart, expected) => {
    expect(addrSpec(address(localPart))).toBe(expected);
  });
});

describe('formatAddress', () => {
  it.each([
    ['', 'a@x.test'],
    ['Max Müller', 'Max Müller <a@x.test>'],
    ['Max  Müller', '"Max  Müller" <a@x.test>'],
    ['Dr. Max', '"Dr. Max" <a@x.test>'],
    ['a@x.test', '"a@x.test" <a@x.test>'],
  ])('writes the name %j', (name, expected) => {
    expect(formatAddress(address('a', 'x.test', name))).toBe(expected);
  });

  it('never writes a line break, even for an address that no parser made', () => {
    expect(formatAddress(address('a\r\n', 'x.test', 'b\r\nBcc: c'))).toBe('"b  Bcc: c" <"a  "@x.test>');
  });
});

describe('sameMailbox', () => {
  it('ignores case and the name', () => {
    expect(sameMailbox(address('Max'), address('max', 'x.test', 'Max'))).toBe(true);
    expect(sameMailbox(address('Jürgen'), address('JÜRGEN'))).toBe(true);
  });

  it('tells other mailboxes apart', () => {
    expect(sameMailbox(address('max'), address('max', 'y.test'))).toBe(false);
    expect(sameMailbox(address('max'), address('max+a'))).toBe(false);
    expect(sameMailbox(address('a@b', 'c'), address('a', 'b@c'))).toBe(false);
  });
});

describe('dedupeAddresses', () => {
  it('keeps the first of each mailbox, in order', () => {
    const [a, b, again] = [address('a', 'x.test', 'A'), address('b'), address('A')];
    expect(dedupeAddresses([a, b, again, b])).toEqual([a, b]);
  });
});
