import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Limit } from './limit.ts';

/** Work that ends only by `free`. */
function occupyWith(limit: Limit, take: (onProgress: () => void) => void): { free(): void } {
  let free = (): void => {};
  const ended = new Promise<void>((resolve) => (free = resolve));
  void limit.run((onProgress) => {
    take(onProgress);
    return ended;
  });
  return { free };
}
const occupy = (limit: Limit) => occupyWith(limit, () => undefined);

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('a limit', () => {
  it('does not listen any more to the signal of many that waited, when they are through', async () => {
    const limit = new Limit({ size: 1 });
    const { free } = occupy(limit);
    const { signal } = new AbortController();
    const order: number[] = [];
    const waiting = Array.from({ length: 64 }, (_, index) =>
      limit.run(
        async () => {
          order.push(index);
        },
        { signal },
      ),
    );
    await Promise.resolve();
    expect(getEventListeners(signal, 'abort')).toHaveLength(64);
    free();
    await Promise.all(waiting);
    expect(order).toEqual(waiting.map((_, index) => index));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('refuses all that wait on a signal when it aborts, and none of another', async () => {
    const limit = new Limit({ size: 1 });
    const { free } = occupy(limit);
    const [first, second] = [new AbortController(), new AbortController()];
    const refused = Array.from({ length: 12 }, () => limit.run(async () => 'ran', { signal: first.signal }));
    const kept = limit.run(async () => 'ran', { signal: second.signal });
    await Promise.resolve();
    first.abort(new Error('stopped'));
    for (const one of refused) await expect(one).rejects.toThrow('stopped');
    expect(getEventListeners(first.signal, 'abort')).toHaveLength(0);
    free();
    await expect(kept).resolves.toBe('ran');
  });

  it('runs no more than its size at a time, in the order they came, whether they fail or not', async () => {
    const limit = new Limit({ size: 2 });
    const begun: number[] = [];
    const ends: ((isGood: boolean) => void)[] = [];
    const results = [0, 1, 2, 3].map((number) =>
      limit.run(() => {
        begun.push(number);
        return new Promise<number>((resolve, reject) => {
          ends[number] = (isGood) => (isGood ? resolve(number) : reject(new Error('failed')));
        });
      }),
    );
    const outcomes = Promise.allSettled(results);
    await nextTurn();
    expect(begun).toEqual([0, 1]);
    ends[1]?.(false);
    await nextTurn();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.(true);
    await nextTurn();
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

  it('holds work back whose weight does not fit, and what came behind it, but never work that is alone', async () => {
    const limit = new Limit({ size: 10, maxWeight: 100 });
    const begun: number[] = [];
    const begin = async (weight: number) => {
      const end = await limit.begin({ weight });
      begun.push(weight);
      return end;
    };
    const [heavy, light, lightest] = [begin(500), begin(60), begin(1)];
    await nextTurn();
    expect(begun).toEqual([500]);
    (await heavy)();
    const [endLight, endLightest] = await Promise.all([light, lightest]);
    const tooMuch = begin(50);
    await nextTurn();
    expect(begun).toEqual([500, 60, 1]);
    let isIdle = false;
    void limit.idle().then(() => (isIdle = true));
    endLight();
    endLightest();
    endLightest();
    const last = await tooMuch;
    await nextTurn();
    expect(isIdle).toBe(false);
    last();
    await nextTurn();
    expect(isIdle).toBe(true);
  });

  it('lets the next one begin when work makes no progress, and not before', async () => {
    // Fake timers: a process that is suspended for a while must not look like a stall.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const limit = new Limit({ size: 1, stallMs: 60 });
    let progress = () => {};
    const ended = occupyWith(limit, (onProgress) => (progress = onProgress));
    let hasBegun = false;
    const next = limit.run(async () => {
      hasBegun = true;
    });
    for (let count = 0; count < 20; count += 1) {
      progress();
      vi.advanceTimersByTime(59);
      await nextTurn();
    }
    expect(hasBegun).toBe(false);
    vi.advanceTimersByTime(1);
    await next;
    // Its own end does not make a second place.
    progress();
    ended.free();
    const one = occupy(limit);
    const another = limit.run(async () => 'ran', { signal: AbortSignal.timeout(20) });
    await expect(another).rejects.toThrow('aborted');
    one.free();
  });
});
