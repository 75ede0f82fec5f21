import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { currentRequestId, inRequest } from '../base/request-scope.ts';
import { createBatches, type BatchLimits } from './batches.ts';

interface Write {
  readonly items: readonly number[];
  readonly resolve: (results?: readonly (string | Promise<string>)[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes end when the test ends them; the byte size of an item is its value. */
function createWorld(limits: Omit<BatchLimits, 'name'> = { items: 3, bytes: 100, failTogether: true }) {
  const writes: Write[] = [];
  const add = createBatches<number, string>(
    { name: 'test', ...limits },
    (item) => item,
    (items) =>
      new Promise((resolve, reject) => {
        const toText = () => items.map((item) => `wrote ${item}`);
        writes.push({ items, resolve: (results = toText()) => resolve(results), reject });
      }),
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { writes, add, settled, written: () => writes.map(({ items }) => items) };
}

describe('an item', () => {
  it('is written at once when no write is under way, else with those that came meanwhile, one write at a time', async () => {
    const world = createWorld();
    const results = [1, 2, 3, 4, 5].map((item) => world.add(item));
    expect(world.written()).toEqual([[1]]);
    world.writes[0]?.resolve();
    await world.settled();
    expect(world.written()).toEqual([[1], [2, 3, 4]]);
    world.writes[1]?.resolve();
    await world.settled();
    world.writes[2]?.resolve();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((item) => `wrote ${item}`));
    expect(world.written()).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('are written as work of no request, whichever one began the batch', async () => {
    const requests: unknown[] = [];
    const add = createBatches<number, string>(
      { name: 'test', items: 1, bytes: 1, failTogether: true },
      () => 1,
      async (items) => {
        requests.push(currentRequestId());
        return items.map(String);
      },
    );
    const callers = ['one', 'two'].map((id) =>
      inRequest(id, async () => {
        await add(1);
        return currentRequestId();
      }),
    );
    expect(await Promise.all(callers)).toEqual(['one', 'two']);
    expect(requests).toEqual([undefined, undefined]);
  });

  it('may be written with those of its turn, with more than one write under way', async () => {
    const limits = { items: 3, bytes: 1000, failTogether: true, atOnce: 2, collectsTurn: true };
    const world = createWorld(limits);
    const results = [1, 2, 3, 4].map((item) => world.add(item));
    expect(world.written()).toEqual([]);
    await world.settled();
    expect(world.written()).toEqual([[1, 2, 3], [4]]);
    results.push(...[5, 6].map((item) => world.add(item)));
    await world.settled();
    expect(world.written()).toHaveLength(2);
    world.writes[1]?.resolve();
    await world.settled();
    expect(world.written()).toEqual([[1, 2, 3], [4], [5, 6]]);
    world.writes[0]?.resolve();
    world.writes[2]?.resolve();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6].map((item) => `wrote ${item}`));
    const alone = world.add(7);
    await world.settled();
    world.writes[3]?.resolve();
    expect(await alone).toBe('wrote 7');
  });

  it('is written with as many others as fit, and alone when it is too large for a batch', async () => {
    const world = createWorld();
    for (const item of [1, 60, 41, 200, 30]) void world.add(item);
    for (let index = 0; index < 5; index += 1) {
      world.writes[index]?.resolve();
      await world.settled();
    }
    expect(world.written()).toEqual([[1], [60], [41], [200], [30]]);
  });

  it('may have a result that comes later, and does not keep the next item waiting', async () => {
    const world = createWorld();
    let end: (text: string) => void = () => undefined;
    const late = new Promise<string>((resolve) => (end = resolve));
    const first = world.add(1);
    const second = world.add(2);
    world.writes[0]?.resolve([late]);
    await world.settled();
    world.writes[1]?.resolve();
    expect(await second).toBe('wrote 2');
    end('late');
    expect(await first).toBe('late');
  });
});

describe('a refusal', () => {
  it('of one item fails no other: each is written alone', async () => {
    const world = createWorld();
    const results = Promise.allSettled([1, 2, 3].map((item) => world.add(item)));
    world.writes[0]?.resolve();
    await world.settled();
    world.writes[1]?.reject(new Error('one of them'));
    await world.settled();
    world.writes[2]?.reject(new Error('this one'));
    await world.settled();
    world.writes[3]?.resolve();
    expect(world.written()).toEqual([[1], [2, 3], [2], [3]]);
    expect(await results).toMatchObject([
      { value: 'wrote 1' },
      { reason: { message: 'this one' } },
      { value: 'wrote 3' },
    ]);
  });

  it('of all items, as when the database is unavailable, is final', async () => {
    const world = createWorld();
    const results = Promise.allSettled([1, 2, 3].map((item) => world.add(item)));
    world.writes[0]?.resolve();
    await world.settled();
    world.writes[1]?.reject(new ServiceError('database_unavailable'));
    expect(await results).toMatchObject([
      { value: 'wrote 1' },
      { reason: { code: 'database_unavailable' } },
      { reason: { code: 'database_unavailable' } },
    ]);
    expect(world.written()).toEqual([[1], [2, 3]]);
  });
});
