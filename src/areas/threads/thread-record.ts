/** The record of one thread with a page of its emails, and the changes that people make to it. */
import { ServiceError } from '../../core/errors.ts';
import { PLACE_CURSOR } from '../../platform/base/paging.ts';
import type { ThreadChanges, ThreadPageQuery, ThreadPages } from './thread-record-ports.ts';
import type { ThreadUseCases } from './use-cases.ts';

export function createThreadPageReads({
  readThreadPage,
}: ThreadPages): Pick<ThreadUseCases, 'readThreadPage'> {
  return {
    async readThreadPage({ cursor, ...request }) {
      const page = await read({ readThreadPage }, { ...request, after: PLACE_CURSOR.parse(cursor) });
      const last = page.hasMore ? (page.emails.at(-1) ?? null) : null;
      return { thread: page.thread, emails: page.emails, nextCursor: PLACE_CURSOR.format(last) };
    },
  };
}

export function createThreadChangeActs(
  { changeThread, changeAndMark }: ThreadChanges,
  pages: ThreadPages,
): Pick<ThreadUseCases, 'changeThread' | 'changeAndMark'> {
  return {
    changeAndMark,

    async changeThread(threadId, change, keyId) {
      const id = await changeThread(threadId, change, keyId);
      return (await read(pages, { threadId: id, withHtml: false, limit: 1, after: null })).thread;
    },
  };
}

async function read({ readThreadPage }: ThreadPages, query: ThreadPageQuery) {
  const page = await readThreadPage(query);
  if (page === null) throw new ServiceError('thread_not_found');
  return page;
}
