/** The list of merges that received mail did not get, page by page. */
import type { Application, RefusedMergesPage } from './application.ts';
import { nextCursor, parseCursor } from './cursor.ts';
import type { RefusedMergeStore } from './refused-merge-ports.ts';

export function createRefusedMerges(store: RefusedMergeStore): Pick<Application, 'listRefusedMerges'> {
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
