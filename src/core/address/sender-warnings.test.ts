import { describe, expect, it } from 'vitest';
import { ownSenders, senderWarnings, type Sender } from './sender-warnings.ts';

const own = ownSenders([{ name: 'Muster GmbH', address: 'info@muster.example' }]);
const warn = (name: string, address: string, more: Partial<Sender> = {}) =>
  senderWarnings({ direction: 'inbound', verdict: null, name, address, ...more }, own);

describe('the sender of an email', () => {
  it.each([
    ['service@bank.example', 'x@evil.example'],
    ['Bank (service@bank.example)', 'x@evil.example'],
    ['"service@bank.example" via Forms', 'x@evil.example'],
    ['service@bank.example.', 'other@bank.example'],
    ['Bank service [at] bank.example', 'x@evil.example'],
    ['service(at)bank.example', 'x@evil.example'],
    ['service ＠ bank．example', 'x@evil.example'],
    ['serv\u200bice@bank.example', 'x@evil.example', 'hidden_characters'],
    ['www.bank.example', 'x@evil.example'],
    ['https://www.bank.example/', 'x@evil.example'],
    ['b\u0430nk@bank.example', 'bank@bank.example'],
    ['service@bank.example', ''],
  ])('shows another address: %s <%s>', (name, address, ...more) => {
    expect(warn(name, address)).toEqual(['shows_other_address', ...more]);
  });

  it.each([
    ['ann@customer.example', 'Ann@Customer.example'],
    ['ann@customer.example', 'ann+shop@customer.example'],
    ['Ann @ Work', 'ann@customer.example'],
    ['Booking.com', 'x@mail.example'],
    ['www.shop.example', 'news@mail.shop.example'],
    ['Dr.med. Ann', 'ann@customer.example'],
    ['ann@müller.example', 'ann@xn--mller-kva.example'],
    ['', 'ann@customer.example'],
    ['نور\u200f (Nour)', 'nour@customer.example'],
    ['Ann 👩‍🔧 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'ann@customer.example'],
    ['می‌خواهم', 'a@customer.example'],
  ])('shows what it is: %s <%s>', (name, address) => {
    expect(warn(name, address)).toEqual([]);
  });

  it.each([
    ['Muster GmbH', 'x@evil.example', 'passed'],
    ['MUSTER  GmbH.', 'x@evil.example', null],
    ['Must\u0435r GmbH', 'x@evil.example', null],
    ['Muster GmbH', 'ann@muster.example', null],
  ] as const)('has our name: %s <%s> (%s)', (name, address, verdict) => {
    expect(warn(name, address, { verdict })).toEqual(['own_name']);
  });

  it('is one of us where that is proven', () => {
    expect(warn('Muster GmbH', 'ann@mail.muster.example', { verdict: 'passed' })).toEqual([]);
    expect(warn('Muster GmbH', 'info@muster.example', { verdict: 'passed' })).toEqual([]);
    for (const verdict of ['failed', 'unknown', null] as const)
      expect(warn('Muster GmbH', 'INFO@muster.example', { verdict })).toEqual(['own_address']);
    expect(warn('info@muster.example', 'x@evil.example', { direction: 'outbound' })).toEqual([]);
  });

  it.each([
    'Ann\u202egnp',
    'Ann\u2066',
    'A\u00adnn',
    'Ann\u3164',
    'An\u200dn',
    'Ann\u200e',
    '\u{e0041}nn',
    'Ann\u0007',
  ])('has characters that are not seen: %j', (name) => {
    expect(warn(name, 'ann@customer.example')).toEqual(['hidden_characters']);
  });

  it('has a domain that may be taken for another', () => {
    expect(warn('Bank', 'service@b\u0430nk.example')).toEqual(['lookalike_domain']);
    expect(warn('Bank', 'service@xn--bnk-6cd.example')).toEqual(['lookalike_domain']);
  });
});
