import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openToken, sealToken, TOKEN_KEY_BYTES, TOKEN_NONCE_BYTES } from './token.ts';

const KEY = randomBytes(TOKEN_KEY_BYTES);
const seal = (subscription: Parameters<typeof sealToken>[2]) =>
  sealToken(KEY, randomBytes(TOKEN_NONCE_BYTES), subscription);
const SAMPLE = { accountId: 'sales', list: 'Neues für Kunden', address: 'jürgen@example.com', emailId: 'id' };

describe('a token', () => {
  it('gives back what was sealed, whatever that is', () => {
    const subscription = fc.record({
      accountId: fc.string(),
      list: fc.string({ unit: 'grapheme', maxLength: 64 }),
      address: fc.string({ unit: 'grapheme', maxLength: 80 }),
      emailId: fc.uuid(),
    });
    fc.assert(
      fc.property(subscription, (given) => {
        expect(openToken(KEY, seal(given))).toEqual(given);
      }),
    );
  });

  it('can stand in an address, and does not show whose it is', () => {
    expect(seal(SAMPLE)).toMatch(/^[\w-]+$/);
    expect(Buffer.from(seal(SAMPLE), 'base64url').toString('latin1')).not.toContain('example');
    expect(
      seal({ ...SAMPLE, list: 'ü'.repeat(64), address: `${'x'.repeat(250)}@${'y'.repeat(64)}.test` }).length,
    ).toBeLessThan(900);
  });

  it('is refused when a single character differs, with another key, and when it is cut', () => {
    const token = seal(SAMPLE);
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'A' ? 'B' : 'A';
      expect(openToken(KEY, token.slice(0, at) + other + token.slice(at + 1))).toBeNull();
      expect(openToken(KEY, token.slice(0, at))).toBeNull();
    }
    expect(openToken(randomBytes(TOKEN_KEY_BYTES), token)).toBeNull();
    expect(openToken(KEY, `${token}=`)).toBeNull();
    expect(openToken(KEY, 'A'.repeat(100_000))).toBeNull();
  });

  it('is nothing that a stranger could write', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(openToken(KEY, text)).toBeNull();
      }),
    );
  });
});
