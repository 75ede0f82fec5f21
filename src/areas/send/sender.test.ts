import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../core/address/address-list.ts';
import type { Account } from '../../platform/base/basics.ts';
import { accountOfFrom, signingFor } from './sender.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const dkim = (domain: string) => ({
  domain,
  keys: [{ selector: 's', privateKey }],
  relayReplacesDate: false,
});
const at = (text: string) => parseAddress(text, 'from');
const account = (id: string, from: string, more: Partial<Account> = {}): Account => ({
  id,
  from: at(from),
  ...more,
});
const mapOf = (...accounts: readonly Account[]) => new Map(accounts.map((one) => [one.id, one]));
const pattern = [{ address: at('*@shop.test'), replyTo: null }];

describe('a signature is', () => {
  const main = account('main', 'a@firma.test', { dkim: dkim('firma.test'), addresses: pattern });
  const shop = account('shop', 'kasse@shop.test', { dkim: dkim('shop.test') });
  it.each([
    [
      "of the account for its own domain, whatever the key's domain",
      'a@firma.test',
      [main, shop],
      'firma.test',
    ],
    ['of the account below its domain', 'b@mail.firma.test', [main, shop], 'firma.test'],
    ["of an account of the address's domain", 'x@shop.test', [main, shop], 'shop.test'],
    ['of the account when there is none of the domain', 'x@shop.test', [main], 'firma.test'],
  ])('%s', (_title, from, accounts, expected) => {
    expect(signingFor(mapOf(...accounts), main, at(from))?.domain).toBe(expected);
  });

  it('missing where the account has none for its own domain', () => {
    const plain = account('plain', 'kontakt@shop.test');
    expect(signingFor(mapOf(plain, shop), plain, at('kontakt@shop.test'))).toBeNull();
  });
});

describe('the account of From is', () => {
  const ports = (defaultAccountId: string) => ({
    accounts: mapOf(
      account('one', 'a@firma.test', { addresses: pattern }),
      account('two', 'b@firma.test', { addresses: pattern }),
      account('three', 'c@firma.test'),
    ),
    defaultAccountId,
  });
  it('the default one among several', () => {
    expect(accountOfFrom(ports('two'), 'x@shop.test', null)).toBe('two');
  });
  it('the only one that the caller has', () => {
    expect(accountOfFrom(ports('three'), 'x@shop.test', ['one', 'three'])).toBe('one');
  });
  it('asked for among several others', () => {
    expect(() => accountOfFrom(ports('three'), 'x@shop.test', null)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'account_id' }),
    );
  });
  it('none of another caller', () => {
    expect(() => accountOfFrom(ports('one'), 'c@firma.test', ['one'])).toThrow(
      expect.objectContaining({ code: 'forbidden_from' }),
    );
  });
});
