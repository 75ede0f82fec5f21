import { expect, it } from 'vitest';
import { createTurns } from './in-turn.ts';

/** Work that ends when told to. */
function startable(inTurn: ReturnType<typeof createTurns>, keys: readonly string[]) {
  const gate = { end: () => undefined as void, fail: () => undefined as void, started: false };
  const result = inTurn(keys, () => {
    gate.started = true;
    return new Promise<void>((resolve, reject) => {
      gate.end = resolve;
      gate.fail = () => reject(new Error('failed'));
    });
  });
  return Object.assign(gate, { result });
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('work with a common key comes one after the other, other work does not wait', async () => {
  const inTurn = createTurns();
  const first = startable(inTurn, ['a', 'b']);
  const second = startable(inTurn, ['b', 'c']);
  const third = startable(inTurn, ['c', 'c']);
  const other = startable(inTurn, ['d']);
  await turn();
  expect([first, second, third, other].map(({ started }) => started)).toEqual([true, false, false, true]);
  first.end();
  await first.result;
  await turn();
  expect([second.started, third.started]).toEqual([true, false]);
  second.end();
  await turn();
  expect(third.started).toBe(true);
});

it('a failure is that of its own work alone', async () => {
  const inTurn = createTurns();
  const first = startable(inTurn, ['a']);
  const second = startable(inTurn, ['a']);
  await turn();
  first.fail();
  await expect(first.result).rejects.toThrow('failed');
  await turn();
  second.end();
  await expect(second.result).resolves.toBeUndefined();
});
