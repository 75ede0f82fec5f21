import { describe, expect, it } from 'vitest';
import { parseAddressList } from '../address/address-list.ts';
import { automaticExchange, type Answer } from './loop-guard.ts';

const exchange = (to: string, answer: Partial<Answer> = {}) =>
  automaticExchange({
    autoSubmitted: null,
    automaticFrom: [],
    ...answer,
    recipients: parseAddressList(to, 'to'),
  });

describe('an email is part of an automatic exchange', () => {
  it.each<[string, string, Partial<Answer>, string | null]>([
    [
      'that answers a program, with that',
      'Bot <BOT@x.test>',
      { automaticFrom: ['bot@X.test'] },
      'bot@x.test',
    ],
    [
      'that answers a program, with any other recipients',
      'a@x.test, bot@x.test',
      { automaticFrom: ['bot@x.test'] },
      'bot@x.test',
    ],
    ['that is an automatic answer', 'ada@x.test', { autoSubmitted: 'auto-replied' }, 'ada@x.test'],
  ])('%s', (_name, to, answer, expected) => {
    expect(exchange(to, answer)).toBe(expected);
  });

  it.each<[string, string, Partial<Answer>]>([
    ['that a person writes to a person', 'ada@x.test', {}],
    ['that goes elsewhere than the form it answers', 'ada@x.test', { automaticFrom: ['form@x.test'] }],
    ['that a program sends unasked', 'ada@x.test', { autoSubmitted: 'auto-generated' }],
    ['without a recipient', 'nobody:;', { autoSubmitted: 'auto-replied' }],
  ])('but not one %s', (_name, to, answer) => {
    expect(exchange(to, answer)).toBe(null);
  });
});
