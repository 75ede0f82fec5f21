import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

const OPTIONS = { size: 3, sizeOfOne: 2, maxWaiting: 4, maxWaitingOfOne: 3 };

/** Work that ends when it is told to. */
function start(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) =>
    turns.run(name.charAt(0), () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, run, end: (name: string) => (ends.get(name)?.(), settle()), settle };
}

describe('turns', () => {
  it('leave some of the places to other askers, who then take turns', async () => {
    const { begun, run, end, settle } = start(new Turns(OPTIONS));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void run(name);
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    await end('b1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
    await end('b2');
    expect(begun).toHaveLength(5);
    await end('a2');
    expect(begun.at(-1)).toBe('a4');
  });

  it('refuse what would wait behind too much: of one asker, and of all', async () => {
    const { run, settle } = start(new Turns(OPTIONS));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run(name);
    await settle();
    await expect(run('a6')).rejects.toMatchObject({ code: 'rate_limited' });
    void run('b1');
    void run('b2');
    await settle();
    await expect(run('c1')).rejects.toMatchObject({ code: 'busy' });
  });

  it('give a place back when the work fails', async () => {
    const turns = new Turns({ ...OPTIONS, size: 1, sizeOfOne: 1 });
    const failing = turns.run('a', () => Promise.reject(new Error('no')));
    const next = turns.run('a', () => Promise.resolve('next'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
    expect(await turns.run('b', () => Promise.resolve('b'))).toBe('b');
  });
});
