import { describe, expect, it } from 'vitest';
import { conclude } from './conclude.ts';

const later = 60_000;

describe('an email', () => {
  it.each([
    [['accepted'], 'sent', null],
    [['accepted', 'rejected'], 'sent', '1 of 2 recipients were not reached: why'],
    [['rejected', 'rejected'], 'failed', 'why'],
  ] as const)('with %j is %s', (states, state, detail) => {
    expect(conclude(states, 'why', later)).toEqual({ state, detail, dueInMs: null });
  });

  it.each([[['deferred']], [['pending']], [['accepted', 'deferred']], [['rejected', 'deferred']]] as const)(
    'with %j is tried again',
    (states) => {
      expect(conclude(states, 'why', later)).toEqual({ state: 'deferred', detail: 'why', dueInMs: later });
    },
  );

  it.each([
    [['deferred'], 'failed', 'given up: why'],
    [['accepted', 'deferred', 'rejected'], 'sent', '2 of 3 recipients were not reached: given up: why'],
  ] as const)('with %j that is given up is %s', (states, state, detail) => {
    expect(conclude(states, 'why', null)).toEqual({ state, detail, dueInMs: null });
  });

  it.each([[['unknown']], [['unknown', 'deferred']], [['accepted', 'unknown']]] as const)(
    'with %j is not sent again by itself',
    (states) => {
      expect(conclude(states, 'why', later)).toEqual({ state: 'unknown', detail: 'why', dueInMs: null });
    },
  );
});
