import { expect, it } from 'vitest';
import { parseAddress } from '../../core/address/address-list.ts';
import { senderAccountOf } from './sender-accounts.ts';

const WITH_MORE = ['offers@company.test', 'hr+*@company.test', '*@shop.test'].map((text) => ({
  address: parseAddress(text, 'addresses'),
  replyTo: null,
}));

const accounts = new Map(
  [
    ['shop', 'Shop <shop@company.test>'],
    ['second', 'SHOP@company.test'],
    ['hr', 'hr@company.test'],
    ['ü', 'info@küche.test'],
    ['k', 'kontakt@company.test'],
  ].map(([id = '', from = '']) => [
    id,
    { id, from: parseAddress(from, 'from'), ...(id === 'hr' ? { addresses: WITH_MORE } : {}) },
  ]),
);

it.each([
  [null, 'shop@company.test', 'shop'],
  [null, 'Shop@COMPANY.test', 'shop'],
  [['second'], 'shop@company.test', 'second'],
  [['shop'], 'hr@company.test', null],
  [[], 'shop@company.test', null],
  [null, 'Offers@company.test', 'hr'],
  [['shop'], 'offers@company.test', null],
  [null, 'hr+x@company.test', 'hr'],
  [null, 'any@shop.test', 'hr'],
  [null, 'shop+x@company.test', null],
  [null, 'postmaster@company.test', null],
  [null, 'info@xn--kche-0ra.test', 'ü'],
  [null, 'KONTAKT@company.test', 'k'],
  [null, '\u212aontakt@company.test', null],
])('for a key of %j, %s is the address of %s', (seen, address, expected) => {
  const found = senderAccountOf(accounts, { accounts: seen }, parseAddress(address, 'From'));
  expect(found?.id ?? null).toBe(expected);
});
