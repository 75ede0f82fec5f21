/** In whose name a message goes out, as the page decides it before the service does. */
import type { Account } from 'email-worker-client';
import { describe, expect, it } from 'vitest';
import {
  aroundWild,
  chosenSender,
  freePartOf,
  fromFor,
  fromOf,
  isWhole,
  readAddress,
  senderFor,
  sendersOf,
  type Sender,
} from '../../page/src/features/write/senders.ts';

const accountWith = (fields: object): Account =>
  ({
    id: 'sales',
    from_address: { name: 'Sales', address: 'sales@company.test' },
    settings: {
      addresses: [
        { address: 'Offers <offers@company.test>', signature_text: 'Offers' },
        { address: 'sales+*@company.test' },
        { address: '*@shop.test', name: 'Shop' },
      ],
      signature_text: 'Sales',
      signature_html: '<b>Sales</b>',
      footer_text: 'HRB 1',
      footer_once_per_thread: true,
    },
    ...fields,
  }) as unknown as Account;

const SENDERS = sendersOf([
  accountWith({}),
  accountWith({ id: 'other', from_address: { name: '', address: 'other@company.test' }, settings: null }),
  accountWith({ id: 'gone', from_address: null }),
]);

describe('the senders of accounts', () => {
  it('are From and the addresses, with their names, signatures and the footer', () => {
    expect(SENDERS.map(({ accountId, kind, name, address }) => [accountId, kind, name, address])).toEqual([
      ['sales', 'plain', 'Sales', 'sales@company.test'],
      ['sales', 'plain', 'Offers', 'offers@company.test'],
      ['sales', 'detail', 'Sales', 'sales+*@company.test'],
      ['sales', 'domain', 'Shop', '*@shop.test'],
      ['other', 'plain', '', 'other@company.test'],
    ]);
    expect(SENDERS.map(({ signature }) => signature?.text ?? null)).toEqual([
      'Sales',
      'Offers',
      'Sales',
      'Sales',
      null,
    ]);
    expect(SENDERS[0]?.signature?.html).toBe('<b>Sales</b>');
    expect(SENDERS[1]?.footer).toEqual({ text: 'HRB 1', html: null, oncePerThread: true });
    expect(SENDERS[4]?.footer).toBeNull();
  });

  it.each([
    ['Offers@Company.test', 'offers@company.test'],
    ['sales+7@company.test', 'sales+*@company.test'],
    ['offers+7@company.test', undefined],
    ['depot@shop.test', '*@shop.test'],
    ['*@shop.test', undefined],
    ['other@company.test', undefined],
  ])('%s is sent by %s', (address, expected) => {
    expect(senderFor(SENDERS, 'sales', address)?.address).toBe(expected);
  });
});

describe('the sender of a message', () => {
  const choose = (from: string | null, usual: { name: string; address: string } | null = null) =>
    chosenSender(SENDERS, { accountId: 'sales', from, usual });

  it('is From of the account unless another one is chosen, or usual for an answer', () => {
    expect(choose(null)?.address).toBe('sales@company.test');
    const usual = { name: 'Offers', address: 'offers@company.test' };
    expect(choose(null, usual)).toMatchObject({ ...usual, sender: { signature: { text: 'Offers' } } });
    expect(choose('sales@company.test', usual)?.address).toBe('sales@company.test');
  });

  it('has the name of the choice, else that of the settings', () => {
    expect(choose('x@shop.test')?.name).toBe('Shop');
    expect(choose('"Lovelace, \\"Ada\\"" <x@shop.test>')?.name).toBe('Lovelace, "Ada"');
  });

  it('that is chosen is named, but for the usual one', () => {
    const [from, offers, detail, domain] = SENDERS as [Sender, Sender, Sender, Sender];
    const chosen = (usual: { name: string; address: string } | null) =>
      [from, offers, detail, domain].map((sender) => fromFor(sender, SENDERS, usual));
    expect(chosen(null)).toEqual([null, 'offers@company.test', 'sales+@company.test', '@shop.test']);
    expect(chosen({ name: '', address: 'Offers@company.test' })).toEqual([
      'sales@company.test',
      null,
      'sales+@company.test',
      '@shop.test',
    ]);
    // Written to an address of a pattern: its free part is not typed again.
    expect(chosen({ name: '', address: 'sales+4711@company.test' })).toEqual([
      'sales@company.test',
      'offers@company.test',
      null,
      '@shop.test',
    ]);
  });

  it('has no settings when the account does not send as it, and is not known before the accounts are', () => {
    expect(choose('boss@elsewhere.test')).toEqual({
      name: '',
      address: 'boss@elsewhere.test',
      sender: null,
    });
    expect(chosenSender([], { accountId: 'sales', from: null, usual: null })).toBeNull();
  });
});

describe('an address', () => {
  it.each([
    ['', false],
    ['a', true],
    ['a.b+c', true],
    ['a..b', false],
    ['.a', false],
    ['a b', false],
    ['a@b', false],
    ['*', false],
    ['sales+', false],
    ['sales+1', true],
    ['"a b"', true],
    ['x'.repeat(65), false],
    ['büro.köln', true],
    ['注文', true],
    ['ü'.repeat(33), false],
    ['a\u00a0b', false],
    ['a\u202eb', false],
    ['.', false],
    ['a.', false],
  ])('with the local part “%s” is whole: %s', (local, expected) => {
    expect(isWhole(`${local}@shop.test`)).toBe(expected);
  });

  it('is read with and without a name, and from an object', () => {
    expect(readAddress(' a@b.test ')).toEqual({ name: '', address: 'a@b.test' });
    expect(readAddress('Ada <a@b.test>')).toEqual({ name: 'Ada', address: 'a@b.test' });
    expect(fromOf({ name: 'Lovelace, Ada', address: 'a@b.test' })).toBe('"Lovelace, Ada" <a@b.test>');
    expect(fromOf({ address: 'a@b.test' })).toBe('a@b.test');
    expect(fromOf(undefined)).toBeNull();
  });

  it('of a pattern has a free part, however its domain is written', () => {
    expect(freePartOf({ address: 'sales+*@bücher.test' }, 'sales+4711@xn--bcher-kva.test')).toBe('4711');
    expect(freePartOf({ address: 'sales+*@company.test' }, 'sales+@company.test')).toBe('');
    expect(freePartOf({ address: '*@shop.test' }, 'a@b@shop.test')).toBe('a@b');
  });

  it('of a pattern is typed between two parts', () => {
    expect(aroundWild({ address: 'sales+*@company.test' })).toEqual(['sales+', '@company.test']);
    expect(aroundWild({ address: '*@shop.test' })).toEqual(['', '@shop.test']);
  });
});
