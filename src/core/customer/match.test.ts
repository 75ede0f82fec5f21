import { describe, expect, it } from 'vitest';
import { domainRulesOf, matchAddress, matchAll, type Claims, type Match } from './match.ts';

const claims = (of: {
  registered?: Record<string, string[]>;
  learned?: Record<string, string[]>;
  domain?: Record<string, string[]>;
}): Claims => ({
  registered: (address) => of.registered?.[address] ?? [],
  learned: (address) => of.learned?.[address] ?? [],
  domain: (rule) => of.domain?.[rule] ?? [],
});

const by = (source: 'address' | 'domain', customerId: string): Match => ({
  kind: 'customer',
  customerId,
  source,
});
const AMBIGUOUS: Match = { kind: 'ambiguous' };
const NONE: Match = { kind: 'none' };

describe('domainRulesOf', () => {
  it.each([
    ['ada@acme.test', ['acme.test', '*.test']],
    ['ada@de.mail.acme.test', ['de.mail.acme.test', '*.mail.acme.test', '*.acme.test', '*.test']],
    ['"a@b"@acme.test', ['acme.test', '*.test']],
    ['ada@localhost', ['localhost']],
    ['no address', []],
    ['@acme.test', []],
    ['ada@', []],
    [`ada@${'a.'.repeat(200)}test`, []],
  ])('of %j', (address, rules) => {
    expect(domainRulesOf(address)).toEqual(rules);
  });
});

describe('matchAddress', () => {
  const address = 'ada@mail.acme.test';

  it.each([
    ['no customer', {}, NONE],
    ['a learned address', { learned: { [address]: ['1'] } }, by('address', '1')],
    [
      'one by hand over a learned one',
      { registered: { [address]: ['2'] }, learned: { [address]: ['1'] } },
      by('address', '2'),
    ],
    ['two that were learned', { learned: { [address]: ['1', '2'] } }, AMBIGUOUS],
    ['two by hand', { registered: { [address]: ['1', '2'] }, learned: { [address]: ['3'] } }, AMBIGUOUS],
    [
      'an address over its domain',
      { learned: { [address]: ['1'] }, domain: { 'mail.acme.test': ['2'] } },
      by('address', '1'),
    ],
    [
      'an ambiguous address, whatever its domain says',
      { learned: { [address]: ['1', '2'] }, domain: { 'mail.acme.test': ['2'] } },
      AMBIGUOUS,
    ],
    ['the exact domain', { domain: { 'mail.acme.test': ['1'], '*.acme.test': ['2'] } }, by('domain', '1')],
    ['the longest wildcard', { domain: { '*.test': ['1'], '*.acme.test': ['2'] } }, by('domain', '2')],
    ['an ambiguous domain', { domain: { 'mail.acme.test': ['1', '2'], '*.acme.test': ['2'] } }, AMBIGUOUS],
    ['not the domain above', { domain: { 'acme.test': ['1'], '*.mail.acme.test': ['2'] } }, NONE],
  ])('%s', (_, of, expected) => {
    expect(matchAddress(address, claims(of))).toEqual(expected);
  });
});

describe('matchAll', () => {
  it.each([
    ['no customer', [], NONE],
    ['one among strangers', [NONE, by('domain', '1'), NONE], by('domain', '1')],
    ['the same twice, by address where one is', [by('domain', '1'), by('address', '1')], by('address', '1')],
    ['two customers', [by('address', '1'), by('domain', '2')], AMBIGUOUS],
    ['an ambiguous one beside a clear one', [AMBIGUOUS, by('address', '1')], by('address', '1')],
    ['an ambiguous one alone', [NONE, AMBIGUOUS], AMBIGUOUS],
  ])('%s', (_, matches, expected) => {
    expect(matchAll(matches)).toEqual(expected);
  });
});
