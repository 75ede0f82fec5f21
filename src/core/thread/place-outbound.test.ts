import { describe, expect, it } from 'vitest';
import type { MessageId } from '../message/message-id.ts';
import { placeOutbound, type PlacementFacts, type PlacementQuery } from './place-outbound.ts';

const id = (text: string) => text as MessageId;

const QUERY: PlacementQuery = {
  accountId: null,
  defaultAccountId: 'default',
  threadId: null,
  inReplyTo: null,
};
const NOTHING: PlacementFacts = {
  thread: null,
  newest: null,
  inReplyToWritten: null,
  inReplyToThreadId: null,
  inReplyToReferences: [],
};
const NEWEST = { messageId: id('newest@x'), references: [id('first@x')] };

describe('without thread_id and in_reply_to', () => {
  it('starts a new thread of the default account that answers nothing', () => {
    expect(placeOutbound(QUERY, NOTHING, 'new')).toEqual({
      accountId: 'default',
      threadId: 'new',
      hasFooter: false,
      rule: 'new',
      matchedMessageId: null,
      parent: null,
    });
  });

  it('starts it in the account the caller named', () => {
    expect(placeOutbound({ ...QUERY, accountId: 'sales' }, NOTHING, 'new').accountId).toBe('sales');
  });
});

describe('with thread_id', () => {
  const query = { ...QUERY, threadId: 't' };
  const facts = { ...NOTHING, thread: { id: 't', accountId: 'sales' }, newest: NEWEST };

  it('joins it and answers its newest email, from the account of the thread', () => {
    expect(placeOutbound(query, facts, 'new')).toMatchObject({
      accountId: 'sales',
      threadId: 't',
      rule: 'thread_id',
      parent: NEWEST,
    });
  });

  it('joins the survivor when the thread was merged', () => {
    const merged = { ...facts, thread: { id: 'survivor', accountId: 'sales' } };
    expect(placeOutbound(query, merged, 'new').threadId).toBe('survivor');
  });

  it('answers nothing in a thread without emails', () => {
    expect(placeOutbound(query, { ...facts, newest: null }, 'new').parent).toBeNull();
  });

  it('wins over in_reply_to, which still sets the headers', () => {
    const other = { ...facts, inReplyToThreadId: 'other', inReplyToReferences: [id('root@x')] };
    expect(placeOutbound({ ...query, inReplyTo: id('a@x') }, other, 'new')).toMatchObject({
      threadId: 't',
      rule: 'thread_id',
      parent: { messageId: 'a@x', references: ['root@x'] },
    });
  });

  it('is refused when the thread does not exist or is of another account than the caller named', () => {
    expect(() => placeOutbound(query, NOTHING, 'new')).toThrow('thread_not_found');
    expect(() => placeOutbound({ ...query, accountId: 'support' }, facts, 'new')).toThrow('thread_not_found');
  });
});

describe('with in_reply_to', () => {
  const query = { ...QUERY, inReplyTo: id('a@x') };

  it('joins the thread that knows the Message-ID', () => {
    const facts = { ...NOTHING, inReplyToThreadId: 't', inReplyToReferences: [id('root@x')] };
    expect(placeOutbound(query, facts, 'new')).toMatchObject({
      threadId: 't',
      rule: 'in_reply_to',
      matchedMessageId: 'a@x',
      parent: { messageId: 'a@x', references: ['root@x'] },
    });
  });

  it('starts a new thread that answers it when the Message-ID is unknown', () => {
    expect(placeOutbound(query, NOTHING, 'new')).toMatchObject({
      threadId: 'new',
      rule: 'new',
      matchedMessageId: null,
      parent: { messageId: 'a@x', references: [] },
    });
  });
});
