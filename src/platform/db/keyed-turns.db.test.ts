import { expect, it } from 'vitest';
import { createKeyedTurns } from './keyed-turns.ts';

/** Work that ends when the test ends it. */
function startable(turns: ReturnType<typeof createKeyedTurns>, keys: readonly string[]) {
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
  const turns = createKeyedTurns();
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
  const turns = createKeyedTurns();
  const first = startable(turns, ['a']);
  const second = startable(turns, ['a']);
  await turn();
  first.fail();
  await expect(first.result).rejects.toThrow('failed');
  await turn();
  second.end();
  await expect(second.result).resolves.toBeUndefined();
});
