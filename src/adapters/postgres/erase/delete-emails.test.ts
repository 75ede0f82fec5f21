import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerTo, outboundRecord } from '../../../../test/helpers/outbound-record.ts';
import { openMailStores, type MessageStore } from '../../../../test/helpers/mail-stores.ts';
import { createDeletedFiles, createDeletionStore } from './deletion-store.ts';

let end: () => Promise<void>;
let pool: pg.Pool;
let store: MessageStore;

beforeAll(async () => {
  ({ pool, store, end } = await openMailStores(8));
});
afterAll(() => end());

const emails = async (threadId: string): Promise<readonly string[]> =>
  (
    await pool.query<{ id: string }>('select id from emails where thread_id = $1 order by id', [threadId])
  ).rows.map(({ id }) => id);

it('a send that a journal still has is not recorded again, whether it begins a conversation or answers one', async () => {
  const deletions = createDeletionStore(pool);
  const first = outboundRecord();
  const answer = answerTo(first.messageId, { threadId: first.threadId });
  await store.recordOutbound(first);
  await store.recordOutbound(answer);
  expect(await deletions.deleteEmail(answer.id)).toBe('deleted');
  await store.recordOutbound(answer);
  expect(await emails(first.threadId)).toEqual([first.id]);
  expect(await deletions.deleteEmail(first.id)).toBe('deleted');
  await Promise.all([store.recordOutbound(first), store.recordOutbound(outboundRecord())]);
  expect(await emails(first.threadId)).toEqual([]);
  expect((await pool.query('select from email_threads where id = $1', [first.threadId])).rowCount).toBe(0);
});

it('a file that is to be deleted stays on the list until it is gone', async () => {
  const files = createDeletedFiles(pool);
  await pool.query(`insert into deleted_files (path) values ('a/b/c'), ('a/b/d')`);
  expect(await files.filesToDelete(1)).toEqual(['a/b/c']);
  await files.forgetFiles(['a/b/c']);
  expect(await files.filesToDelete(10)).toEqual(['a/b/d']);
  await files.forgetFiles(['a/b/d']);
});

it('an email that waits for its turn, is being sent or may have been is kept, whatever else is deleted', async () => {
  const deletions = createDeletionStore(pool);
  for (const state of ['queued', 'sending', 'deferred', 'unknown']) {
    const record = outboundRecord();
    await store.recordOutbound(record);
    await pool.query('update emails set state = $2 where id = $1', [record.id, state]);
    expect(await deletions.deleteEmail(record.id), state).toBe('kept');
    expect(await deletions.deleteSomeOfThread(record.threadId, 10), state).toBe('kept');
    expect(await emails(record.threadId)).toEqual([record.id]);
  }
});
