import { describe, expect, it } from 'vitest';
import { addressPattern } from './address-pattern.ts';

/** JavaScript reads these patterns as PostgreSQL does. */
const finds = (text: string, ...addresses: readonly string[]) =>
  new RegExp(addressPattern(addresses)).test(text);

describe('the pattern of an address', () => {
  it.each([
    'ada@x.test',
    'to ada@x.test.',
    '<ada@x.test>',
    '"address": "ada@x.test"',
    'ada@x.test, bob@x.test',
    '550 ada@x.test: unknown',
  ])('is fulfilled by %s', (text) => expect(finds(text, 'ada@x.test')).toBe(true));

  it.each(['mada@x.test', 'o.ada@x.test', 'ada@x.test.uk', 'ada@x.tests', 'ada@xxtest', 'ada+b@x.test'])(
    'is not fulfilled by another address, %s',
    (text) => expect(finds(text, 'ada@x.test')).toBe(false),
  );

  it('takes nothing of an address for an operator', () => {
    const odd = String.raw`a.*+?^$()[]{}|\'@x.test`;
    expect(finds(`<${odd}>`, odd)).toBe(true);
    expect(finds('<abc@x.test>', 'a.*@x.test')).toBe(false);
  });

  it('finds any of several, what JSON writes of one, and nothing for none', () => {
    expect(finds('bob@x.test', 'ada@x.test', 'bob@x.test')).toBe(true);
    expect(finds(JSON.stringify('"a b"@x.test'), '"a b"@x.test')).toBe(true);
    expect(finds('ada@x.test')).toBe(false);
  });

  it('in keys is also found behind what a program put before it', () => {
    expect(new RegExp(addressPattern(['ada@x.test'], 'keys')).test('welcome-ada@x.test-1')).toBe(true);
  });
});
