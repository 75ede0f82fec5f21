/** The questions that the page asks before a message goes out, and the times at which it offers to send it. */
import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../page/src/features/write/entries.ts';
import { addressesIn, concernsAbout, type Recipient } from '../../page/src/features/write/concerns.ts';
import { speaksOfFile } from '../../page/src/features/write/missing-file.ts';
import { isSendTime, namedTimes } from '../../page/src/features/write/send-times.ts';

const known = (address: string, customer: string | null, suppressed = false): Recipient => ({
  address,
  customer_id: customer,
  customer_name: customer === null ? null : `Customer ${customer}`,
  suppressed,
});

describe('the addresses of a field', () => {
  it('are parted by commas that are in no quotes and no comment', () => {
    expect(entriesOf('"B, C" <b@x.test>, a@x.test (home, or so),')).toEqual([
      '"B, C" <b@x.test>',
      'a@x.test (home, or so)',
      '',
    ]);
  });

  it('are found once each, in lower case, and not more than a person types', () => {
    expect(addressesIn('Ann <Ann@X.test>, ', 'ann@x.test, nobody', '"a <b@y.test>" <c@x.test>')).toEqual([
      'ann@x.test',
      'c@x.test',
    ]);
    const many = Array.from({ length: 100 }, (_, index) => `a${index}@x.test`).join(',');
    expect(addressesIn(many)).toHaveLength(20);
  });
});

describe('a recipient', () => {
  it('of another customer than the thread is a concern', () => {
    const all = [known('a@x.test', 'A'), known('b@x.test', 'B'), known('c@x.test', null)];
    expect(concernsAbout(all, 'A')).toEqual([
      { kind: 'other_customer', address: 'b@x.test', customer: 'Customer B' },
    ]);
    expect(concernsAbout(all, 'C').map((concern) => 'address' in concern && concern.address)).toEqual([
      'a@x.test',
      'b@x.test',
    ]);
  });

  it('of a thread without a customer is measured by the first one', () => {
    expect(concernsAbout([known('c@x.test', null), known('a@x.test', 'A')], null)).toEqual([]);
    expect(concernsAbout([known('a@x.test', 'A'), known('b@x.test', 'B')], null)).toHaveLength(1);
  });

  it('that takes no mail is a concern', () => {
    expect(concernsAbout([known('a@x.test', null, true)], null)).toEqual([
      { kind: 'suppressed', address: 'a@x.test' },
    ]);
  });
});

describe('a text speaks of a file', () => {
  it.each([
    'Anbei das Angebot.',
    'siehe Anhang',
    'Im E-Mail-Anhang finden Sie es',
    'Das angehängte Dokument',
    'in der Anlage',
    'Anlagen: 2',
    'Ich habe es beigefügt.',
    'das beiliegende Blatt',
    'Please see the attached offer.',
    'Enclosed you find it',
    'see ATTACHMENT',
  ])('in %j', (text) => {
    expect(speaksOfFile(text)).toBe(true);
  });

  it.each([
    'Ihre Photovoltaik-Anlage',
    'die Anlage läuft wieder',
    'I got attacked',
    'Hello',
    '> see attached\nThanks',
  ])('but not in %j', (text) => {
    expect(speaksOfFile(text)).toBe(false);
  });
});

describe('moments to send at', () => {
  const offered = (...parts: [number, number, number, number]) =>
    namedTimes(new Date(...parts)).map(({ name, at }) => [name, at.getDay(), at.getDate(), at.getHours()]);

  it('are this evening, tomorrow and Monday', () => {
    expect(offered(2026, 10, 25, 9)).toEqual([
      ['evening', 3, 25, 18],
      ['tomorrow', 4, 26, 8],
      ['monday', 1, 30, 8],
    ]);
  });

  it('leave out an evening that has begun, and a Monday that is tomorrow or today', () => {
    expect(offered(2026, 10, 29, 17)).toEqual([['tomorrow', 1, 30, 8]]);
    expect(offered(2026, 10, 30, 23)).toEqual([
      ['tomorrow', 2, 1, 8],
      ['monday', 1, 7, 8],
    ]);
  });

  it('are in the future, and within a year', () => {
    const now = new Date('2026-11-25T09:00:00Z');
    expect(isSendTime(new Date('2026-11-25T09:00:00Z'), now)).toBe(false);
    expect(isSendTime(new Date('2026-11-25T09:01:00Z'), now)).toBe(true);
    expect(isSendTime(new Date('2027-11-26T09:00:00Z'), now)).toBe(false);
  });
});
