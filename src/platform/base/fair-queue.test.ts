import { expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const all = () => true;

function drain(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let work = queue.take(all); work !== null; work = queue.take(all)) taken.push(work);
  return taken;
}

it('gives each asker one turn after the other, and keeps the order of each', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1', 'a2', 'a3');
  queue.push('b', 'b1');
  queue.push('c', 'c1', 'c2');
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('takes what was put back before what waits behind it', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a2');
  queue.unshift('a', 'a1');
  expect(drain(queue)).toEqual(['a1', 'a2']);
});

it('passes over askers that may have no turn, whose work keeps waiting', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1');
  queue.push('b', 'b1');
  const mayHaveTurn = (asker: string) => asker === 'b';
  expect(queue.take(mayHaveTurn)).toBe('b1');
  expect(queue.has(mayHaveTurn)).toBe(false);
  expect(queue.take(mayHaveTurn)).toBeNull();
  expect(queue.countOf('a')).toBe(1);
});
