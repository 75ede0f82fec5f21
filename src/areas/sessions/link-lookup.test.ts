import { expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { LinkLookup } from './link-lookup.ts';
import type { StoredLink } from '../../platform/access/session-ports.ts';

const digestOf = (text: string) => Buffer.from(text.padEnd(32, '.'));
const linkOf = (text: string): StoredLink => ({
  digest: digestOf(text),
  keyId: text,
  credential: Buffer.alloc(32),
});

it('finds the right link among thousands of guesses, with a read for all of them', async () => {
  let reads = 0;
  const lookup = new LinkLookup(
    () => {
      reads += 1;
      return Promise.resolve([linkOf('right')]);
    },
    () => performance.now(),
  );
  const guesses = Array.from({ length: 5000 }, (_, index) => lookup.find(digestOf(`guess ${index}`)));
  expect(await lookup.find(digestOf('right'))).toMatchObject({ keyId: 'right' });
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([null]));
  expect(reads).toBeLessThanOrEqual(2);
});

it('finds a link that was made while an earlier read was under way', async () => {
  const links: StoredLink[] = [];
  const waiting: ((links: readonly StoredLink[]) => void)[] = [];
  const lookup = new LinkLookup(
    () => new Promise((resolve) => waiting.push(resolve)),
    () => performance.now(),
  );
  const early = lookup.find(digestOf('new'));
  await expect.poll(() => waiting.length).toBe(1);
  links.push(linkOf('new'));
  const late = lookup.find(digestOf('new'));
  waiting[0]?.([]);
  expect(await early).toBeNull();
  await expect.poll(() => waiting.length).toBe(2);
  waiting[1]?.([...links]);
  expect(await late).toMatchObject({ keyId: 'new' });
});

it('reads again after a read that failed', async () => {
  let fails = true;
  const lookup = new LinkLookup(
    () =>
      fails ? Promise.reject(new ServiceError('database_unavailable')) : Promise.resolve([linkOf('right')]),
    () => performance.now(),
  );
  await expect(lookup.find(digestOf('right'))).rejects.toMatchObject({ code: 'database_unavailable' });
  fails = false;
  expect(await lookup.find(digestOf('right'))).toMatchObject({ keyId: 'right' });
});
