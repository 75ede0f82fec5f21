/** How the page asks the service. */
import { onlineManager } from '@tanstack/react-query';
import { afterEach, expect, it } from 'vitest';
import { createPageQueries } from '../../page/src/app/page-queries.ts';

afterEach(() => onlineManager.setOnline(true));

it('lets nothing happen when the network is back that a person may have given up', async () => {
  onlineManager.setOnline(false);
  const queries = createPageQueries();
  let tries = 0;
  const act = queries.getMutationCache().build(queries, {
    mutationFn: async () => {
      tries += 1;
      throw new Error('no network');
    },
  });
  const end = act.execute(undefined).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect([tries, act.state.isPaused]).toEqual([1, false]);
  expect(await end).toMatchObject({ message: 'no network' });
});
