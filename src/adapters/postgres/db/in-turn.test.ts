import { expect, it } from 'vitest';
import { createLimit, createTurns } from './in-turn.ts';

/** Work that ends when told to. */
function startable(turns: ReturnType<typeof createTurns>, keys: readonly string[]) {
  const gate = { end: () => undefined as void, fail: () => undefined as void, started: false };
  const result = turns.run(keys, () => {
    gate.started = true;
    return new Promise<void>((resolve, reject) => {
      gate.end = resolve;
      gate.fail = () => reject(new Error('failed'));
    });
  });
  return Object.assign(gate, { result });
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('work with a common key runs one at a time, other work does not wait', async () => {
  const turns = createTurns();
  const first = startable(turns, ['a', 'b']);
  const second = startable(turns, ['b', 'c']);
  const third = startable(turns, ['c', 'c']);
  const other = startable(turns, ['d']);
  await turn();
  expect([first, second, third, other].map(({ started }) => started)).toEqual([true, false, false, true]);
  expect([['a'], ['e', 'c'], ['e']].map((keys) => turns.isFree(keys))).toEqual([false, false, true]);
  first.end();
  await first.result;
  await turn();
  expect([second.started, third.started]).toEqual([true, false]);
  second.end();
  await turn();
  expect(third.started).toBe(true);
});

it('a failure is that of its own work alone', async () => {
  const turns = createTurns();
  const first = startable(turns, ['a']);
  const second = startable(turns, ['a']);
  await turn();
  first.fail();
  await expect(first.result).rejects.toThrow('failed');
  await turn();
  second.end();
  await expect(second.result).resolves.toBeUndefined();
});

it('no more than the limit run at a time, in the order they came, whether they fail or not', async () => {
  const limit = createLimit(2);
  const begun: number[] = [];
  const ends: ((isGood: boolean) => void)[] = [];
  const results = [0, 1, 2, 3].map((number) =>
    limit(() => {
      begun.push(number);
      return new Promise<number>((resolve, reject) => {
        ends[number] = (isGood) => (isGood ? resolve(number) : reject(new Error('failed')));
      });
    }),
  );
  const outcomes = Promise.allSettled(results);
  await turn();
  expect(begun).toEqual([0, 1]);
  ends[1]?.(false);
  await turn();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.(true);
  await turn();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.(true);
  ends[3]?.(true);
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});
