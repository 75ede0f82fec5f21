/**
 * The memory of deleted emails. Only this module writes `deleted_emails`, `deleted_identities` and `deleted_files`. They contain no content
 * and no address: an email is recognised by keyed digests of its identity.
 */
import { run, runCounting, statement, type Executor } from '../../platform/db/statement.ts';

/**
 * A condition that costs nothing as long as nothing was ever deleted; it goes before the conditions that compute digests. A separate query,
 * so that it is evaluated once per statement.
 */
export const SOMETHING_WAS_DELETED = '(select exists (select from deleted_emails))';

export interface DeletedEmail {
  readonly id: string;
  readonly accountId: string;
  readonly threadId: string;
  /** Keys of the email, and of copies of it that may come; see core/message/identity.ts. */
  readonly identityKeys: readonly string[];
}

/** Marks deleted emails with the erasure that deleted them. */
export async function rememberErased(
  executor: Executor,
  erasureId: string,
  ids: readonly string[],
): Promise<void> {
  await run(executor, REMEMBER_ERASED, { erasureId, ids });
}

const REMEMBER_ERASED = statement(
  'remember-erased',
  'update deleted_emails set erasure_id = $erasureId where id = any ($ids::uuid[])',
);

/** For a dry run: marks emails as if an erasure had deleted them. */
export async function supposeErased(
  executor: Executor,
  erasureId: string,
  ids: readonly string[],
): Promise<void> {
  await run(executor, SUPPOSE_ERASED, { erasureId, ids });
}

const SUPPOSE_ERASED = statement(
  'suppose-erased',
  `insert into deleted_emails (id, account_id, thread_id, erasure_id)
  select id, account_id, thread_id, $erasureId from emails where id = any ($ids::uuid[]) on conflict do nothing`,
);

/** Call it before the emails are deleted: the identifiers of records that were merged into them are remembered too. */
export async function rememberDeleted(executor: Executor, emails: readonly DeletedEmail[]): Promise<void> {
  await run(executor, REMEMBER, {
    ids: emails.map(({ id }) => id),
    accountIds: emails.map(({ accountId }) => accountId),
    threadIds: emails.map(({ threadId }) => threadId),
  });
  const keys = emails.flatMap(({ id, accountId, identityKeys }) =>
    identityKeys.map((key) => ({ id, accountId, key: Buffer.from(key, 'hex') })),
  );
  await run(executor, REMEMBER_IDENTITIES, {
    ids: keys.map(({ id }) => id),
    accountIds: keys.map(({ accountId }) => accountId),
    keys: keys.map(({ key }) => key),
  });
}

const REMEMBER = statement(
  'remember-deleted',
  `insert into deleted_emails (id, account_id, thread_id)
  select r.id, n.account_id, n.thread_id
  from unnest($ids::uuid[], $accountIds::text[], $threadIds::uuid[]) n (id, account_id, thread_id)
  cross join lateral (
    select n.id union all select a.id from email_aliases a where a.email_id = n.id
  ) r
  on conflict do nothing`,
);

const REMEMBER_IDENTITIES = statement(
  'remember-deleted-identities',
  `insert into deleted_identities (account_id, digest, email_id)
  -- Equal emails that were sent within a second have one key in common.
  select distinct on (n.account_id, n.key) n.account_id, keyed_digest(n.key), n.id
  from unnest($ids::uuid[], $accountIds::text[], $keys::bytea[]) n (id, account_id, key)
  order by n.account_id, n.key, n.id desc
  on conflict (account_id, digest) do update set email_id = excluded.email_id`,
);

/** Afterwards the email with these keys may be recorded again. */
export async function forgetDeletion(
  executor: Executor,
  accountId: string,
  keys: readonly string[],
): Promise<void> {
  await run(executor, FORGET_IDENTITY, { accountId, keys: keys.map((key) => Buffer.from(key, 'hex')) });
}

const FORGET_IDENTITY = statement(
  'forget-deleted-identity',
  `delete from deleted_identities
  where account_id = $accountId and digest in (select keyed_digest(key) from unnest($keys::bytea[]) key)`,
);

/**
 * Queues the files of the emails and of their variants, to be deleted once nothing refers to them. Call it before the emails are deleted.
 *
 * @returns the number of files
 */
export function queueFiles(executor: Executor, emailIds: readonly string[]): Promise<number> {
  return runCounting(executor, QUEUE_FILES, { emailIds });
}

const QUEUE_FILES = statement(
  'queue-deleted-files',
  `insert into deleted_files (path)
  select storage_path from email_attachments where email_id = any ($emailIds::uuid[])
  union
  select raw_path from emails where id = any ($emailIds::uuid[]) and raw_path is not null
  union
  select raw_path from email_variants where email_id = any ($emailIds::uuid[]) and raw_path is not null
  on conflict do nothing`,
);

/** The same for the files of drafts. Call it before the drafts are deleted. */
export function queueDraftFiles(executor: Executor, draftIds: readonly string[]): Promise<number> {
  return runCounting(executor, QUEUE_DRAFT_FILES, { draftIds });
}

const QUEUE_DRAFT_FILES = statement(
  'queue-deleted-draft-files',
  `insert into deleted_files (path)
  select distinct storage_path from draft_files where draft_id = any ($draftIds::uuid[])
  on conflict do nothing`,
);

/** Files that are to be deleted now, the longest waiting first. */
export async function filesToDelete(executor: Executor, limit: number): Promise<readonly string[]> {
  return (await run(executor, FILES_TO_DELETE, { limit })).map(({ path }) => path);
}

const FILES_TO_DELETE = statement(
  'files-to-delete',
  'select path from deleted_files where next_try_at <= now() order by next_try_at, path limit $limit::int',
);

export async function deferFile(executor: Executor, path: string): Promise<void> {
  await run(executor, DEFER_FILE, { path });
}

/** After 10 seconds, and then up to an hour. */
const DEFER_FILE = statement(
  'defer-deleted-file',
  `update deleted_files set tries = tries + 1,
    next_try_at = now() + least(interval '10 seconds' * power(2, least(tries, 20)), interval '1 hour')
  where path = $path`,
);

export async function hasFilesToDelete(executor: Executor): Promise<boolean> {
  return (await run(executor, HAS_FILES)).length > 0;
}

const HAS_FILES = statement('has-files-to-delete', 'select from deleted_files limit 1');

/** For files that are gone from storage, or that something refers to. */
export async function forgetFiles(executor: Executor, paths: readonly string[]): Promise<void> {
  await run(executor, FORGET_FILES, { paths });
}

const FORGET_FILES = statement(
  'forget-deleted-files',
  'delete from deleted_files where path = any ($paths::text[])',
);
