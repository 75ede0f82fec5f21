/** A page of a thread: with all displayed data of its emails, in one statement. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMailStores, storedAttachment, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { answerTo, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { createThreadPages } from './thread-page.ts';

let pool: pg.Pool;
let store: MessageStore;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores());
});
afterAll(() => end());

/** The pool, and the statements that were sent through it. */
function counting(): { readonly executor: Executor; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const executor = {
    query: (...args: Parameters<pg.Pool['query']>) => {
      sent.push(args[0]);
      return pool.query(...args);
    },
  };
  return { executor: executor as unknown as Executor, sent };
}

it.each([false, true])('is read in one round trip, with HTML: %s', async (withHtml) => {
  const later = new Date(Date.UTC(2030, 0, 1));
  const first = outboundRecord({ attachments: [storedAttachment()], tags: ['a'], metadata: '{"order":1}' });
  await store.recordOutbound(first);
  await store.recordOutbound(
    answerTo(first.messageId, { threadId: first.threadId, date: later, tags: ['b'] }),
  );
  const { executor, sent } = counting();
  const pages = createThreadPages(executor);
  const query = { threadId: first.threadId, withHtml, limit: 1, after: null };
  const page = await pages.readThreadPage(query);
  expect(page?.hasMore).toBe(true);
  expect(page?.emails.map(({ tags }) => tags)).toEqual([['b']]);
  expect(sent).toHaveLength(1);

  const [newest] = page?.emails ?? [];
  const next = await pages.readThreadPage({ ...query, after: { date: newest!.date, id: newest!.id } });
  expect(next).toMatchObject({
    hasMore: false,
    emails: [{ id: first.id, tags: ['a'], metadata: { order: 1 }, attachments: [{}] }],
  });
  expect(await pages.readThreadPage({ ...query, threadId: randomUUID() })).toBeNull();
  expect(sent).toHaveLength(3);
});
