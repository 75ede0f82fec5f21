import { expect, it } from 'vitest';
import type { MessageId } from '../message/message-id.ts';
import { ownerKey, placeTogether, type Arrival } from './place-together.ts';

/** An email that bears the first Message-ID and answers the second; its own new thread would be `new-<first>`. */
function arrival(own: string, answered?: string, accountId = 'a'): Arrival {
  return {
    accountId,
    meetingKeys: ['with-ada'],
    newThreadId: `new-${own}`,
    links: [
      ...(answered === undefined ? [] : [{ rule: 'in_reply_to', messageId: answered as MessageId } as const]),
      { rule: 'message_id', messageId: own as MessageId },
    ],
  };
}

const owners = (known: Readonly<Record<string, string>>, accountId = 'a') =>
  new Map(Object.entries(known).map(([id, thread]) => [ownerKey(accountId, id as MessageId), thread]));

const place = (
  arrivals: readonly Arrival[],
  known: ReadonlyMap<string, string> = new Map(),
  keptApart: ReadonlySet<string> = new Set(),
  waiting: ReadonlyMap<string, readonly string[]> = new Map(),
) =>
  placeTogether(arrivals, { owners: known, waiting }, keptApart).map((placed) =>
    placed === null ? null : [placed.threadId, placed.placement.rule, placed.placement.matchedMessageId],
  );

it('emails of one conversation get one new thread, each for the reason it would have had alone', () => {
  expect(place([arrival('1'), arrival('2', '1'), arrival('other'), arrival('3', '2')])).toEqual([
    ['new-1', 'new', null],
    ['new-1', 'in_reply_to', '1'],
    ['new-other', 'new', null],
    ['new-1', 'in_reply_to', '2'],
  ]);
});

it('an email that another one answered before it is known by its own Message-ID', () => {
  expect(place([arrival('2', '1'), arrival('1')])).toEqual([
    ['new-2', 'new', null],
    ['new-2', 'message_id', '1'],
  ]);
});

it('all emails of a conversation join the thread that one of them is tied to, in any order', () => {
  expect(place([arrival('2', '1'), arrival('1', '0')], owners({ '0': 'known' }))).toEqual([
    ['known', 'new', null],
    ['known', 'in_reply_to', '0'],
  ]);
});

it('a conversation that is tied to two threads is left out as a whole, others are not', () => {
  const known = owners({ a: 'one', b: 'two' });
  expect(place([arrival('1', 'a'), arrival('2', '1'), arrival('3'), arrival('2', 'b')], known)).toEqual([
    null,
    null,
    ['new-3', 'new', null],
    null,
  ]);
});

it('accounts have nothing to do with each other', () => {
  expect(place([arrival('1'), arrival('2', '1', 'b')], owners({ '1': 'theirs' }, 'b'))).toEqual([
    ['new-1', 'new', null],
    ['theirs', 'in_reply_to', '1'],
  ]);
});

it('an email that others named is placed alone where its thread is kept apart from others', () => {
  const known = owners({ '1': 'T' });
  expect(place([arrival('2', '1'), arrival('1')], known, new Set(['T']))).toEqual([
    ['T', 'in_reply_to', '1'],
    null,
  ]);
});
