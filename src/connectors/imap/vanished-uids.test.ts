import { expect, it } from 'vitest';
import { MAX_VANISHED } from './limits.ts';
import { VanishedUids } from './vanished-uids.ts';

const earlier = (set: unknown) => ({
  attributes: [[{ type: 'ATOM', value: 'EARLIER' }], { type: 'ATOM', value: set }],
});

function vanishedOf(...sets: readonly unknown[]): readonly number[] | null {
  const vanished = new VanishedUids(() => {});
  vanished.collect();
  for (const set of sets) vanished.add(earlier(set));
  return vanished.take();
}

it.each<readonly [readonly unknown[], readonly number[] | null]>([
  [[], []],
  [
    ['7,1:3', '5'],
    [1, 2, 3, 5, 7],
  ],
  [['3:1'], [1, 2, 3]],
  [['0', '0:3', '*', '1:*', '-1', 'x', '4294967296', '', '1:2:3', 5, null], []],
  [['4294967295'], [4294967295]],
  [[`1:${MAX_VANISHED + 1}`], null],
  [['1:4294967295', '7'], null],
  [[`1:${MAX_VANISHED}`, '4294967295'], null],
])('reads %j', (sets, uids) => {
  expect(vanishedOf(...sets)).toEqual(uids);
});

it('takes as many UIDs as the bound allows', () => {
  expect(vanishedOf(`1:${MAX_VANISHED}`)).toHaveLength(MAX_VANISHED);
});

it('tells what vanishes now from what vanished earlier, and survives nonsense', () => {
  let changes = 0;
  const vanished = new VanishedUids(() => {
    changes += 1;
  });
  vanished.add(earlier('1'));
  expect(changes).toBe(0);
  vanished.add({ attributes: [{ type: 'ATOM', value: '5' }] });
  vanished.add({});
  vanished.add({ attributes: [null, undefined] });
  expect(changes).toBe(3);
  vanished.collect();
  vanished.add({ attributes: [[{ value: 'earlier' }]] });
  expect(vanished.take()).toEqual([]);
});
