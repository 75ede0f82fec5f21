import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SharedSync } from './shared-sync.ts';

describe('shared sync', () => {
  it('begins a sync after each call, and no more than needed', async () => {
    const begun: { path: string; end: (error?: Error) => void }[] = [];
    const shared = new SharedSync(
      (path) =>
        new Promise((resolve, reject) => {
          begun.push({ path, end: (error) => (error === undefined ? resolve() : reject(error)) });
        }),
    );
    const first = shared.sync('a');
    const waiting = [shared.sync('a'), shared.sync('a'), shared.sync('a')];
    const other = shared.sync('b');
    expect(begun.map(({ path }) => path)).toEqual(['a', 'b']);

    begun[0]!.end(new Error('broken'));
    begun[1]!.end();
    await expect(first).rejects.toThrow('broken');
    await other;
    await turn();
    expect(begun.map(({ path }) => path)).toEqual(['a', 'b', 'a']);
    const late = shared.sync('a');
    begun[2]!.end();
    await Promise.all(waiting);
    await turn();
    expect(begun).toHaveLength(4);
    begun[3]!.end();
    await late;
    await turn();
    expect(shared.sync('a')).toBeInstanceOf(Promise);
    expect(begun).toHaveLength(5);
  });
});
