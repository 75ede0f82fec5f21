/** A thread, the list of threads, and the marks of what was read. */
import { parseSearchQuery } from '../../core/search/query.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ThreadUseCases } from './use-cases.ts';
import { formatCursor, parseCursor } from '../base/cursor.ts';
import type { ThreadList, ThreadReader } from './thread-list-ports.ts';

type ThreadReads = Pick<ThreadUseCases, 'readThread' | 'listThreads' | 'markThread'>;

export function createThreadReads(list: ThreadList, { readThread }: ThreadReader): ThreadReads {
  return {
    async readThread(threadId) {
      const emails = await readThread(threadId);
      if (emails === null) throw new ServiceError('thread_not_found');
      return emails;
    },

    async listThreads({ cursor, q, ...request }) {
      const after = cursor === null ? null : parseCursor(cursor);
      const search = q === null ? null : parseSearchQuery(q);
      if (q !== null && search === null) return { threads: [], nextCursor: null };
      // One more than asked for tells whether there is another page.
      const threads = await list.listThreads({ ...request, search, limit: request.limit + 1, after });
      const page = threads.slice(0, request.limit);
      const last = page.at(-1);
      return {
        threads: page,
        nextCursor:
          threads.length > page.length && last !== undefined
            ? formatCursor({ date: last.lastActivityAt, id: last.id })
            : null,
      };
    },

    async markThread(threadId, mark) {
      const marked = await list.markThread(threadId, mark);
      if (marked === null) throw new ServiceError('thread_not_found');
      return marked;
    },
  };
}
