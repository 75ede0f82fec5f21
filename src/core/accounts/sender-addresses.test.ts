import { describe, expect, it } from 'vitest';
import { parseAddress } from '../address/address-list.ts';
import { formatAddress } from '../address/address.ts';
import {
  accountsWith,
  answeringIdentity,
  identityFor,
  ownAddresses,
  patternOf,
  sendsAs,
  type Sender,
} from './sender-addresses.ts';

const at = (text: string) => parseAddress(text, 'from');
const sender = (from: string, ...addresses: readonly string[]): Sender => ({
  from: at(from),
  addresses: addresses.map((address) => ({ address: at(address), replyTo: null })),
});

const sales = sender(
  'Vertrieb <sales@firma.test>',
  'Angebote <offers@firma.test>',
  'sales+*@firma.test',
  'Shop <*@shop.test>',
);

describe('an account sends', () => {
  it.each([
    ['as From', 'SALES@firma.test', 'Vertrieb <sales@firma.test>'],
    ['as an address that it names, with its name', 'Offers@Firma.test', 'Angebote <offers@firma.test>'],
    ['with the detail that a pattern allows', 'sales+news@firma.test', 'Vertrieb <sales+news@firma.test>'],
    ['as any address of a domain', 'Order.7@shop.test', 'Shop <Order.7@shop.test>'],
    ['not with a detail that no pattern allows', 'offers+x@firma.test', null],
    ['not as another address', 'info@firma.test', null],
    ['not below the domain of a pattern', 'a@sub.shop.test', null],
    ['not as the pattern itself', '*@shop.test', null],
    ['not as a pattern for a detail itself', 'sales+*@firma.test', null],
    ['not with a letter that only looks the same', 'offer\u017f@firma.test', null],
  ])('%s: %s', (_title, asked, expected) => {
    const identity = identityFor(sales, at(asked));
    expect(identity === null ? null : formatAddress(identity.from)).toBe(expected);
  });
});

it.each([
  ['a@b.test', 'none'],
  ['*@b.test', 'domain'],
  ['a+*@b.test', 'detail'],
  ['a*@b.test', null],
  ['+*@b.test', null],
  ['**@b.test', null],
  ['a+b+*@b.test', null],
])('the pattern of %s is %s', (text, expected) => {
  expect(patternOf(at(text))).toBe(expected);
});

it('is the account that names the address, before those with a pattern for it', () => {
  const shop = sender('kasse@shop.test');
  expect(accountsWith([sales, shop], at('kasse@shop.test'))).toEqual([shop]);
  expect(accountsWith([sales, shop], at('lager@shop.test'))).toEqual([sales]);
  expect(accountsWith([sales, shop], at('a@elsewhere.test'))).toEqual([]);
});

it('answers in the first of the addresses that is its own', () => {
  const to = ['ann@customer.test', 'x@shop.test', 'offers@firma.test'].map(at);
  expect(answeringIdentity(sales, to)?.from).toMatchObject({ localPart: 'x', domain: 'shop.test' });
  expect(answeringIdentity(sales, to.slice(0, 1))).toBeNull();
});

it.each([
  ['sales@firma.test', true],
  ['Sales+x@Firma.test', true],
  ['offers+x@firma.test', true],
  ['anyone@shop.test', true],
  ['info@firma.test', false],
  ['shop.test', true],
  ['', false],
])('%j is ours: %j', (address, expected) => {
  // Text without an at sign is no address, so it does no harm either way.
  expect(ownAddresses([sales])(address)).toBe(expected);
});

it.each([
  ['SALES@firma.test', true],
  ['sales+x@firma.test', true],
  ['offers+x@firma.test', false],
  ['y@shop.test', true],
  ['info@firma.test', false],
])('another program wrote %s as this account: %j', (address, expected) => {
  expect(sendsAs(sales, address)).toBe(expected);
});
