/** The list of refused merges, page by page. */
import type { ThreadUseCases, RefusedMergesPage } from './use-cases.ts';
import { PLACE_CURSOR, readPage } from '../../platform/base/paging.ts';
import type { RefusedMergeStore } from './refused-merge-store.ts';

export function createRefusedMerges(store: RefusedMergeStore): Pick<ThreadUseCases, 'listRefusedMerges'> {
  return {
    async listRefusedMerges(request): Promise<RefusedMergesPage> {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        (after, limit) => store.list({ ...request, after, limit }),
        ({ refusedAt, id }) => ({ date: refusedAt, id }),
      );
      return { refusedMerges: items, nextCursor };
    },
  };
}
