import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { eachAtOnce } from './each-at-once.ts';

const going = new AbortController().signal;

async function* each<T>(...values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

describe('work with each item', () => {
  it('is done with all, never more than so many at once', async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await eachAtOnce(
      each(1, 2, 3, 4, 5, 6, 7),
      3,
      async (item) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        done.push(item);
      },
      going,
    );
    expect([done.toSorted(), most, running]).toEqual([[1, 2, 3, 4, 5, 6, 7], 3, 0]);
  });

  it('tells of a failure that comes while the next item is awaited', async () => {
    const failed = new EventEmitter();
    const hasFailed = once(failed, 'failed');
    async function* slowly() {
      yield 1;
      await hasFailed;
      // Everything that follows from the failure has happened; only then does the next item come.
      await new Promise(setImmediate);
      yield 2;
    }
    const begun: number[] = [];
    const work = async (item: number) => {
      begun.push(item);
      await new Promise(setImmediate);
      failed.emit('failed');
      throw new Error(`item ${item}`);
    };
    await expect(eachAtOnce(slowly(), 4, work, going)).rejects.toThrow('item 1');
    expect(begun).toEqual([1]);
  });

  it('awaits what is under way before it throws, also when the list breaks off', async () => {
    const done: number[] = [];
    async function* broken() {
      yield 1;
      yield 2;
      throw new Error('the list');
    }
    const work = async (item: number) => {
      await new Promise(setImmediate);
      done.push(item);
    };
    await expect(eachAtOnce(broken(), 4, work, going)).rejects.toThrow('the list');
    expect(done).toEqual([1, 2]);
  });

  it('begins nothing more when it was stopped', async () => {
    const stop = new AbortController();
    const begun: number[] = [];
    const work = async (item: number) => {
      begun.push(item);
      if (item === 2) stop.abort();
    };
    await eachAtOnce(each(1, 2, 3), 1, work, stop.signal);
    expect(begun).toEqual([1, 2]);
  });
});
