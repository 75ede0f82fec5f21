import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerTo, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { openMailStores, type MessageStore } from '../../../test/helpers/mail-stores.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { deleteAllDeletedFiles, deleteDeletedFiles } from './delete-deleted-files.ts';
import { createFileReferences } from '../emails/file-references.ts';
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

it('a file that the storage refuses waits for a later try, and holds up no other', async () => {
  const deleted: string[] = [];
  const ports = {
    files: createDeletedFiles(pool),
    references: createFileReferences(pool),
    requireCertainty: () => Promise.resolve(),
    logger: silentLogger,
    blobs: {
      delete: (path: string) => {
        if (path.startsWith('x')) return Promise.reject(new Error('locked'));
        deleted.push(path);
        return Promise.resolve();
      },
    },
  };
  const left = async () =>
    (
      await pool.query<{ path: string; tries: number }>(
        'select path, tries from deleted_files where next_try_at > now() order by path',
      )
    ).rows;
  const add = (paths: readonly string[]) =>
    pool.query('insert into deleted_files (path) select unnest($1::text[])', [paths]);

  await add(['a/b/1', 'x/b/2', 'y/b/3']);
  await deleteDeletedFiles(ports);
  expect(deleted).toEqual(['a/b/1', 'y/b/3']);
  expect(await left()).toEqual([{ path: 'x/b/2', tries: 1 }]);
  await expect(deleteAllDeletedFiles(ports, new AbortController().signal)).rejects.toThrow('are left');
  await pool.query('update deleted_files set next_try_at = now()');
  await deleteDeletedFiles(ports);
  expect(await left()).toEqual([{ path: 'x/b/2', tries: 2 }]);

  // All are refused: the storage is away, and is not asked for each file.
  await add(Array.from({ length: 9 }, (_, index) => `x/b/1${index}`));
  await expect(deleteDeletedFiles(ports)).rejects.toThrow('locked');
  expect(await left()).toHaveLength(6);
  await pool.query('delete from deleted_files');
  await deleteAllDeletedFiles(ports, new AbortController().signal);
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
