import { expect, it, vi } from 'vitest';
import { orRemove } from './or-remove.ts';

const refuse = (): Promise<never> => Promise.reject(new Error('refused'));

it.each([
  ['removed when the caller is refused before the use case', false, 1],
  ['left to the use case that took it over and failed', true, 0],
])('the folder of a request is %s', async (_case, isBegun, removals) => {
  const remove = vi.fn<() => Promise<void>>().mockResolvedValue();
  const folder = { remove, write: refuse, adopt: refuse };
  await expect(orRemove(folder, (begin) => (isBegun ? begin(refuse) : refuse()))).rejects.toThrow('refused');
  expect(remove).toHaveBeenCalledTimes(removals);
});
