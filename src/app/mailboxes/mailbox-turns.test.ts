import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createTurns } from './mailbox-turns.ts';

/** Never ends by itself. */
function occupy(turns: ReturnType<typeof createTurns>): { free(): void } {
  let free = (): void => {};
  const ended = new Promise<void>((resolve) => (free = resolve));
  void turns.run(new AbortController().signal, () => ended);
  return { free };
}

describe('turns', () => {
  it('listen once to the signal of many that wait, and no more when they are through', async () => {
    const turns = createTurns(1);
    const { free } = occupy(turns);
    const { signal } = new AbortController();
    const order: number[] = [];
    const waiting = Array.from({ length: 64 }, (_, index) =>
      turns.run(signal, async () => {
        order.push(index);
      }),
    );
    await Promise.resolve();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    free();
    await Promise.all(waiting);
    expect(order).toEqual(waiting.map((_, index) => index));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('refuse all that wait on a signal when it aborts, and none of another', async () => {
    const turns = createTurns(1);
    const { free } = occupy(turns);
    const [first, second] = [new AbortController(), new AbortController()];
    const refused = Array.from({ length: 12 }, () => turns.run(first.signal, async () => 'ran'));
    const kept = turns.run(second.signal, async () => 'ran');
    await Promise.resolve();
    first.abort(new Error('stopped'));
    for (const one of refused) await expect(one).rejects.toThrow('stopped');
    expect(getEventListeners(first.signal, 'abort')).toHaveLength(0);
    free();
    await expect(kept).resolves.toBe('ran');
  });
});
