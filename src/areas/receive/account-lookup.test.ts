import { expect, it } from 'vitest';
import { parseAddress } from '../../core/address/address-list.ts';
import { createAccountLookup } from './take-delivery.ts';

const at = (text: string) => parseAddress(text, 'from');
const account = (id: string, from: string, ...addresses: readonly string[]) => ({
  id,
  from: at(from),
  addresses: addresses.map((address) => ({ address: at(address), replyTo: null })),
});
const lookup = createAccountLookup([
  account('one', 'a@firma.test', 'help@firma.test', 'offers@firma.test', 'sales+*@firma.test', '*@shop.test'),
  account('two', 'Help@firma.test'),
  account('three', 'sales@firma.test', 'kasse@shop.test'),
]);

it.each([
  ['offers@firma.test', 'one'],
  ['Offers+x@Firma.test', 'one'],
  ['help@firma.test', 'two'],
  ['sales@firma.test', 'three'],
  ['sales+x@firma.test', 'one'],
  ['any@shop.test', 'one'],
  ['kasse@shop.test', 'three'],
  ['postmaster@shop.test', 'one'],
  ['postmaster', 'one'],
  ['any@firma.test', null],
])('mail to %s arrives at %s', (address, expected) => {
  expect(lookup(address)).toBe(expected);
});
