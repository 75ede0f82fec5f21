import { expect, it } from 'vitest';
import { ThreadCache } from './thread-cache.ts';

const text = (bytes: number) => 'x'.repeat(bytes);

/** Reads a thread twice, after which it is cached. */
function keep(cache: ThreadCache, id: string, json: string): void {
  cache.add(id, '1', json);
  cache.add(id, '1', json);
}

it('keeps a thread that is read a second time, as UTF-8', () => {
  const cache = new ThreadCache();
  cache.add('a', '1', '"Grüße"');
  expect(cache.find('a')).toBeNull();
  cache.add('a', '2', '"Grüße €"');
  expect(cache.find('a')).toEqual({ version: '2', json: Buffer.from('"Grüße €"') });
});

it('puts what is newer in the place of what it has', () => {
  const cache = new ThreadCache(100);
  keep(cache, 'a', text(90));
  cache.add('a', '2', text(95));
  expect(cache.find('a')?.version).toBe('2');
  cache.add('a', '3', text(300 * 1024));
  expect(cache.find('a')).toBeNull();
});

it('lets those go first that were read longest ago, and counts bytes', () => {
  const cache = new ThreadCache(100);
  keep(cache, 'a', text(40));
  keep(cache, 'b', text(40));
  cache.touch('a', cache.find('a')!);
  keep(cache, 'c', text(40));
  expect(['a', 'b', 'c'].map((id) => cache.find(id) !== null)).toEqual([true, false, true]);
  keep(cache, 'd', 'ü'.repeat(50));
  expect(['a', 'c', 'd'].map((id) => cache.find(id) !== null)).toEqual([false, false, true]);
});

it('does not bring back what another read has replaced', () => {
  const cache = new ThreadCache(100);
  keep(cache, 'a', text(10));
  const old = cache.find('a')!;
  cache.add('a', '2', text(20));
  cache.touch('a', old);
  expect(cache.find('a')?.version).toBe('2');
});

it('forgets threads that were read once when very many others are read', () => {
  const cache = new ThreadCache();
  cache.add('a', '1', '');
  for (let index = 0; index < 5000; index += 1) cache.add(String(index), '1', '');
  cache.add('a', '1', '');
  expect(cache.find('a')).toBeNull();
});
