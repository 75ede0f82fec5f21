/** `DraftStore` on PostgreSQL; each change is one statement, preceded by one that names the key. */
import type { Pool } from 'pg';
import type {
  Draft,
  DraftAnswer,
  DraftMessage,
  DraftRecord,
  DraftRefusal,
  DraftStore,
  DraftSummary,
} from './draft-ports.ts';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { KeyAuthor } from '../../core/keys/author.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { keyAuthor } from '../emails/read-email-detail.ts';
import { toStoredAttachment } from '../emails/attachment-rows.ts';

export function createDraftStore(pool: Pool): DraftStore {
  async function read(id: string): Promise<Draft | null> {
    const [row] = await run(pool, READ, { id });
    return row === undefined ? null : toDraft(row);
  }

  /** The reason why a statement that changes a draft found none. */
  async function refusalOf(id: string, version: number | null): Promise<DraftRefusal> {
    const draft = await read(id);
    if (draft === null) return { kind: 'not_found' };
    if (draft.isBeingSent) return { kind: 'being_sent' };
    // The draft may have become free since: then either its version differs, or a repeat will find it.
    return version === draft.version ? { kind: 'being_sent' } : { kind: 'changed', version: draft.version };
  }

  /** The events name the key. */
  const named = <T>(keyId: string | null, work: (executor: Executor) => Promise<T>): Promise<T> =>
    keyId === null
      ? work(pool)
      : inTransaction(pool, async (client) => {
          await nameAuthor(client, keyId);
          return work(client);
        });

  return {
    async create({ keyId, ...record }) {
      await run(pool, CREATE, { ...toValues(record), keyId });
      const draft = await read(record.id);
      if (draft === null) throw new Error('a draft was not made, or was deleted at once');
      return draft;
    },

    read,

    async readFile(id, fileId) {
      const [row] = await run(pool, READ_FILE, { id, fileId });
      if (row === undefined) return null;
      return { accountId: row.account_id, file: toStoredAttachment(row) };
    },

    async accountOf({ answers, ...draft }) {
      const [row] = await run(pool, ACCOUNT_OF, { ...draft, answers: toAnswersJson(answers) });
      if (row === undefined) throw new Error('a draft would have no account');
      return row.account_id;
    },

    async list({ threadId, author, ...filter }, after, limit) {
      const rows = await run(pool, LIST, {
        threadId,
        accountIds: accountIdsOf(filter),
        author,
        date: after?.date ?? null,
        id: after?.id ?? null,
        limit,
      });
      return rows.map(toSummary);
    },

    async change(version, { keyId, ...record }) {
      const [row] = await named(keyId, (executor) => run(executor, CHANGE, { ...toValues(record), version }));
      if (row === undefined) return refusalOf(record.id, version);
      const draft = await read(record.id);
      if (draft === null) return { kind: 'not_found' };
      const kept = new Set(record.files.map(({ storagePath }) => storagePath));
      return { kind: 'done', draft, orphans: row.paths.filter((path) => !kept.has(path)) };
    },

    async delete(id, version, keyId) {
      const [row] = await named(keyId, (executor) => run(executor, DELETE, { id, version }));
      return row === undefined ? refusalOf(id, version) : { kind: 'done', orphans: row.paths };
    },

    async beginSending(id, version, emailId) {
      const [row] = await run(pool, BEGIN, { id, version, emailId });
      return row === undefined ? refusalOf(id, version) : { kind: 'done' };
    },
  };
}

const SUMMARY = `d.id, d.version, d.account_id, d.thread_id, d.author, d.answers, d.sending_id, d.created_at, d.updated_at,
  ${keyAuthor('d')} as created_by`;

const FILE_COLUMNS = [
  'id',
  'filename',
  'content_type',
  'size_bytes',
  'storage_path',
  'sha256',
  'content_id',
  'inline',
];

const FILE = jsonObject('draft-file-json', {
  from: 'draft_files f',
  columns: columnsOf('f', ...FILE_COLUMNS),
});

const READ = statement(
  'read-draft',
  `select ${SUMMARY}, d.message, ${FILE.array('where f.draft_id = d.id', 'f.ordinal')} as files
  from drafts d where d.id = $id`,
).narrow<{ files: JsonOf<typeof FILE>[]; created_by: KeyAuthor | null }>();

const READ_FILE = statement(
  'read-draft-file',
  `select d.account_id, f.id, f.filename, f.content_type, f.size_bytes, f.storage_path, f.sha256, f.content_id, f.inline
  from draft_files f join drafts d on d.id = f.draft_id where f.id = $fileId and f.draft_id = $id`,
);

/** A thread that was merged is found by both of its identifiers. */
const LIST = statement(
  'list-drafts',
  `select ${SUMMARY}, d.recipients, d.subject,
    (select count(*) from draft_files f where f.draft_id = d.id)::int as file_count
  from drafts d
  where ($accountIds::text[] is null or d.account_id = any ($accountIds::text[]))
    and ($author::text is null or d.author = $author)
    and ($threadId::uuid is null or d.thread_id in (
      select $threadId union all select thread_id from thread_aliases where id = $threadId
      union all select id from thread_aliases where thread_id = $threadId
    ))
    and ($date::timestamptz is null or (d.updated_at, d.id) < ($date, $id::uuid))
  order by d.updated_at desc, d.id desc limit $limit::int`,
  { plannedEachTime: 'most filters are empty' },
).narrow<{ file_count: number; created_by: KeyAuthor | null }>();

/** The account and the thread of the email that the draft answers, or of the thread that it names. */
const OF_ANSWERED = `(
    select coalesce(e.account_id, $accountId::text, t.account_id, $defaultAccountId) as account_id,
      coalesce(e.thread_id, $threadId::uuid) as thread_id
    from (select 1) one
    left join emails e on e.id = ($answers::jsonb ->> 'emailId')::uuid
    left join email_threads t on t.id = $threadId::uuid
  ) o`;

const ACCOUNT_OF = statement('account-of-draft', `select o.account_id from ${OF_ANSWERED}`).narrow<{
  account_id: string;
}>();

const FILES = `json_to_recordset($files::json) as f (id uuid, ordinal int, filename text, "contentType" text, "sizeBytes" bigint,
    "storagePath" text, sha256 text, "contentId" text, inline boolean)`;

const INSERT_FILES = `insert into draft_files (id, draft_id, ordinal, filename, content_type, size_bytes, storage_path, sha256, content_id, inline)
    select f.id, w.id, f.ordinal, f.filename, f."contentType", f."sizeBytes", f."storagePath", f.sha256, f."contentId", f.inline
    from written w, ${FILES}`;

const CREATE = statement(
  'create-draft',
  `with written as (
    insert into drafts (id, account_id, thread_id, author, author_key, answers, message, recipients, subject)
    select $id, o.account_id, o.thread_id, $author, $keyId::text, $answers::jsonb, $message, $recipients, $subject from ${OF_ANSWERED}
    returning id
  )
  ${INSERT_FILES}`,
);

/** Rows of files that stay are not touched: an insert would collide with the row that the same statement deletes. */
const CHANGE = statement(
  'change-draft',
  `with written as (
    update drafts d set version = d.version + 1, account_id = o.account_id, thread_id = o.thread_id, author = $author,
      answers = $answers::jsonb, message = $message, recipients = $recipients, subject = $subject,
      updated_at = clock_timestamp()
    from ${OF_ANSWERED}
    where d.id = $id and d.version = $version::int and d.sending_id is null
    returning d.id
  ), gone as (
    delete from draft_files old using written w
    where old.draft_id = w.id and old.id not in (select f.id from ${FILES})
  ), moved as (
    update draft_files old set ordinal = f.ordinal from written w, ${FILES}
    where old.draft_id = w.id and old.id = f.id
  ), added as (
    ${INSERT_FILES} where not exists (select from draft_files old where old.id = f.id)
  )
  select coalesce((select array_agg(old.storage_path) from draft_files old where old.draft_id = w.id), '{}') as paths from written w`,
).narrow<{ paths: string[] }>();

const DELETE = statement(
  'delete-draft',
  `with gone as (
    delete from drafts where id = $id and ($version::int is null or version = $version) and sending_id is null returning id
  )
  select coalesce((select array_agg(f.storage_path) from draft_files f where f.draft_id = g.id), '{}') as paths from gone g`,
).narrow<{ paths: string[] }>();

const BEGIN = statement(
  'begin-sending-draft',
  `update drafts set sending_id = $emailId
  where id = $id and version = $version::int and sending_id is null returning id`,
);

function toValues({ files, message, answers, ...record }: Omit<DraftRecord, 'keyId'>) {
  return {
    ...record,
    // As it was written: its column is json, which keeps any escape. The draft can't be sent so.
    message: JSON.stringify(message),
    answers: toAnswersJson(answers),
    files: toStorableJson(files.map((file, ordinal) => ({ ...file, ordinal }))),
  };
}

const toAnswersJson = (answers: DraftAnswer | null): string | null =>
  answers === null ? null : toStorableJson(answers);

type SummaryRow = Omit<RowOf<typeof LIST>, 'recipients' | 'subject' | 'file_count'>;

function toCommon(row: SummaryRow) {
  return {
    id: row.id,
    version: row.version,
    accountId: row.account_id,
    threadId: row.thread_id,
    author: row.author,
    createdBy: row.created_by,
    answers: row.answers as DraftAnswer | null,
    isBeingSent: row.sending_id !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toSummary(row: RowOf<typeof LIST>): DraftSummary {
  return { ...toCommon(row), recipients: row.recipients, subject: row.subject, fileCount: row.file_count };
}

function toDraft(row: RowOf<typeof READ>): Draft {
  return {
    ...toCommon(row),
    message: JSON.parse(row.message) as DraftMessage,
    files: row.files.map(toStoredAttachment),
  };
}
