import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { startSearchIndexer } from './search-indexer.ts';

it('stops during its rest, however long that is', async () => {
  let begun = 0;
  let ended = 0;
  const indexer = startSearchIndexer(
    {
      async indexSome() {
        begun += 1;
        // A rest nine times as long follows.
        await sleep(700);
        ended += 1;
        return { count: 1, isBusy: true };
      },
    },
    silentLogger,
  );
  await waitUntil('a batch is done', () => ended === 1);
  let isStopped = false;
  const stopped = indexer.stop().then(() => (isStopped = true));
  // Not a limit on speed: the rest alone takes more than six seconds.
  await waitUntil('the loop has ended', () => isStopped);
  await stopped;
  expect(begun).toBe(1);
});
