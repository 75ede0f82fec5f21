import { expect, it } from 'vitest';
import { planBatches } from './fetch-messages.ts';
import { MAX_BATCH_MESSAGES, SMALL_MESSAGE_BYTES } from './limits.ts';
import { formatUidSet } from './uid-set.ts';

it.each([
  [[7], '7'],
  [[3, 1, 2, 7], '1:3,7'],
  [[4, 4, 5], '4:5'],
  [[4294967295, 4294967294], '4294967294:4294967295'],
])('names %j as %s', (uids, text) => {
  expect(formatUidSet(uids)).toBe(text);
});

it('reads large messages alone, and small ones together up to a bound, in order', () => {
  const batches = (sizes: readonly number[]) => [
    ...planBatches(
      [...sizes.keys()].map((index) => index + 1),
      new Map(sizes.map((size, index) => [index + 1, size])),
    ),
  ];
  expect(batches([])).toEqual([]);
  expect(batches([1, SMALL_MESSAGE_BYTES + 1, 2, 3])).toEqual([[1], [2], [3, 4]]);
  expect(
    batches(Array.from({ length: MAX_BATCH_MESSAGES + 1 }, () => 1)).map(({ length }) => length),
  ).toEqual([MAX_BATCH_MESSAGES, 1]);
  expect(batches(Array.from({ length: 20 }, () => SMALL_MESSAGE_BYTES)).map(({ length }) => length)).toEqual([
    16, 4,
  ]);
});
