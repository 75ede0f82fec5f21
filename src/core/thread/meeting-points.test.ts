import { describe, expect, it } from 'vitest';
import type { Address } from '../address/address.ts';
import type { MessageId } from '../message/message-id.ts';
import { idOfPoint, meetingKeysOf, meets, nodesOf, pointOf } from './meeting-points.ts';

const at = (text: string): Address => {
  const [localPart = '', domain = ''] = text.split('@');
  return { name: '', localPart, domain };
};
const list = (text: string) => (text === '' ? [] : text.split(' ').map(at));

/** The keys of an email `from > to cc`; the account is info@ours.test. */
function keys(line: string, suggested: string | null = null): readonly string[] {
  const [from = '', to = ''] = line.split(' > ');
  const messageId = `${line}@x` as MessageId;
  return meetingKeysOf(
    { suggested, from: list(from), recipients: list(to), messageId },
    at('info@ours.test'),
  );
}

describe('emails that name one unknown email meet', () => {
  it.each([
    ['when one person wrote both', 'ann@a.test > info@ours.test', 'Ann@a.test > sales@ours.test bob@b.test'],
    [
      'when a form wrote both for one person',
      'ann@a.test form@shop.test > info@ours.test',
      'ann@a.test > info@ours.test',
    ],
    [
      'when one of us wrote to the writer',
      'ann@a.test > info@ours.test',
      'boss@ours.test > ann@a.test info@ours.test',
    ],
    [
      'when each writer wrote to the other',
      'ann@a.test > bob@b.test cy@c.test',
      'bob@b.test > info@ours.test ann@a.test',
    ],
    [
      'when one of us wrote to both, and one of them to the other',
      'boss@ours.test > ann@a.test bob@b.test',
      'bob@b.test > ann@a.test',
    ],
  ])('%s', (_, one, other) => {
    expect(meets(keys(one), keys(other))).toBe(true);
  });

  it('when a colleague forwards the mail of one person', () => {
    expect(
      meets(keys('boss@ours.test > info@ours.test', 'ann@a.test'), keys('ann@a.test > info@ours.test')),
    ).toBe(true);
  });
});

describe('and do not meet', () => {
  it.each([
    ['when strangers wrote to us', 'ann@a.test > info@ours.test', 'bob@b.test > info@ours.test'],
    [
      'when strangers wrote to us and to one more',
      'ann@a.test > info@ours.test owner@gmail.com',
      'bob@b.test > info@ours.test owner@gmail.com',
    ],
    [
      'when a form wrote for strangers',
      'ann@a.test form@shop.test > info@ours.test',
      'bob@b.test form@shop.test > info@ours.test',
    ],
    [
      'when a colleague wrote to strangers',
      'boss@ours.test > ann@a.test info@ours.test',
      'boss@ours.test > bob@b.test info@ours.test',
    ],
    [
      'when only one of the writers wrote to the other',
      'ann@a.test > info@ours.test bob@b.test',
      'bob@b.test > info@ours.test',
    ],
    ['when nothing says who wrote them', ' > ', '> '],
  ])('%s', (_, one, other) => {
    expect(meets(keys(one), keys(other))).toBe(false);
  });

  it('when a colleague forwards the mail of strangers', () => {
    const [one, other] = ['ann@a.test', 'bob@b.test'].map((person) =>
      keys('boss@ours.test > info@ours.test', person),
    );
    expect(meets(one!, other!)).toBe(false);
  });
});

it('keys show no address, and there are few', () => {
  const many = Array.from({ length: 100 }, (_, index) => `p${index}@b.test`).join(' ');
  const found = keys(`ann@a.test > ${many}`);
  expect(found).toHaveLength(9);
  expect(found.join()).toMatch(/^[\w-]{16}(,[\w-]{16}){8}$/);
});

it('a known Message-ID is what all are tied to who name it, another one has a point for each key', () => {
  const isKnown = (id: string) => id === 'known@a';
  expect(nodesOf('known@a', ['k', 'l'], isKnown)).toEqual(['known@a']);
  expect(nodesOf('other@a', ['k', 'l'], isKnown)).toEqual([pointOf('other@a', 'k'), pointOf('other@a', 'l')]);
  expect([pointOf('other@a', 'k'), 'known@a'].map(idOfPoint)).toEqual(['other@a', 'known@a']);
});
