/** A thread, the list of threads, and the marks of emails as read. */
import { isSearch, parseSearchQuery } from '../../core/search/query.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ThreadUseCases } from './use-cases.ts';
import { PLACE_CURSOR, readPage } from '../../platform/base/paging.ts';
import type { ThreadList, ThreadReader } from './thread-list-ports.ts';

type ThreadReads = Pick<ThreadUseCases, 'readThread' | 'listThreads' | 'markThread'>;

export function createThreadReads(list: ThreadList, { readThread }: ThreadReader): ThreadReads {
  return {
    async readThread(threadId, known) {
      const thread = await readThread(threadId, known);
      if (thread === null) throw new ServiceError('thread_not_found');
      return thread;
    },

    async listThreads({ q, searchIn, ...request }) {
      const search = parseSearchQuery(q, searchIn);
      const findsNothing = search === null && isSearch(q, searchIn);
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        async (after, limit) => (findsNothing ? [] : list.listThreads({ ...request, search, limit, after })),
        ({ lastActivityAt, id }) => ({ date: lastActivityAt, id }),
      );
      return { threads: items, nextCursor };
    },

    async markThread(threadId, mark, keyId) {
      const marked = await list.markThread(threadId, mark, keyId);
      if (marked === null) throw new ServiceError('thread_not_found');
      return marked;
    },
  };
}
