/** The list of merges that received mail asked for and did not get, page by page. */
import type { ThreadUseCases, RefusedMergesPage } from './use-cases.ts';
import { nextCursor, parseCursor } from '../base/cursor.ts';
import type { RefusedMergeStore } from './refused-merge-ports.ts';

export function createRefusedMerges(store: RefusedMergeStore): Pick<ThreadUseCases, 'listRefusedMerges'> {
  return {
    async listRefusedMerges({ accountId, limit, cursor }): Promise<RefusedMergesPage> {
      const after = cursor === null ? null : parseCursor(cursor);
      const found = await store.list({ accountId, after, limit: limit + 1 });
      const merges = found.slice(0, limit);
      const last = found.length > limit ? merges.at(-1) : undefined;
      return {
        refusedMerges: merges,
        nextCursor: nextCursor(last === undefined ? null : { date: last.refusedAt, id: last.id }),
      };
    },
  };
}
