/** `UploadStore` and `FileFinder` on PostgreSQL. */
import type { Pool } from 'pg';
import type { FileFinder } from '../send/take-references.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement } from '../../platform/db/statement.ts';
import type { Account, IdSource } from '../../platform/base/basics.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';

export interface Upload {
  readonly id: string;
  /** Only sends of this account may use it. */
  readonly accountId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly storagePath: string;
  readonly expiresAt: Date;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface UploadStore {
  /**
   * Called before its file is stored, so that no file is left without a row. Returns when it expires, by the database's clock; null when
   * all uploads together would exceed `maxBytes`.
   */
  reserve(upload: Omit<Upload, 'expiresAt'>, lifeMs: number, maxBytes: number): Promise<Date | null>;
  /** Uploads that expired that long ago, at most `limit`; none while the database's clock is in doubt. */
  listExpired(graceMs: number, limit: number): Promise<readonly Pick<Upload, 'id' | 'storagePath'>[]>;
  remove(ids: readonly string[]): Promise<void>;
}

export interface UploadPorts {
  readonly uploads: UploadStore;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly ids: IdSource;
}

export function createUploadStore(pool: Pool): UploadStore & FileFinder {
  return {
    async reserve({ sha256, ...upload }, lifeMs, maxBytes) {
      const digest = Buffer.from(sha256, 'hex');
      const [row] = await run(pool, RESERVE, { ...upload, sha256: digest, lifeMs, maxBytes });
      return row?.expires_at ?? null;
    },

    async listExpired(graceMs, limit) {
      const rows = await run(pool, LIST_EXPIRED, { graceMs, limit });
      return rows.map((row) => ({ id: row.id, storagePath: row.storage_path }));
    },

    async remove(ids) {
      if (ids.length > 0) await run(pool, REMOVE, { ids });
    },

    async findFiles(accountId, references) {
      const idsOf = (asked: string) => references.filter(({ kind }) => kind === asked).map(({ id }) => id);
      const rows = await run(pool, FIND_FILES, {
        accountId,
        uploads: idsOf('upload'),
        attachments: idsOf('attachment'),
      });
      return rows.map((row) => ({
        kind: row.kind,
        id: row.id,
        filename: row.filename,
        contentType: row.content_type,
        sizeBytes: Number(row.size_bytes),
        storagePath: row.storage_path,
      }));
    },
  };
}

/** Several uploads at the same moment may exceed the bound together, by as much as concurrent requests may bring. */
const RESERVE = statement(
  'reserve-upload',
  `insert into uploads (id, account_id, filename, content_type, size_bytes, sha256, storage_path, expires_at)
  select $id::uuid, $accountId, $filename, $contentType, $sizeBytes::bigint, $sha256, $storagePath, ${fromNow('$lifeMs')}
  where (select coalesce(sum(size_bytes), 0) from uploads) + $sizeBytes::bigint <= $maxBytes::bigint
  returning id, expires_at`,
);

const LIST_EXPIRED = statement(
  'list-expired-uploads',
  `select id, storage_path from uploads where expires_at < ${fromNow('-$graceMs')} and clock_is_certain()
  order by expires_at limit $limit`,
);

const REMOVE = statement('remove-uploads', `delete from uploads where id = any($ids::uuid[])`);

/** A file belongs to one account alone. */
const FIND_FILES = statement(
  'find-named-files',
  `select 'upload' as kind, id, filename, content_type, size_bytes, storage_path from uploads
  where id = any($uploads::uuid[]) and account_id = $accountId and expires_at > now()
  union all
  select 'attachment', a.id, a.filename, a.content_type, a.size_bytes, a.storage_path
  from email_attachments a join emails e on e.id = a.email_id
  where a.id = any($attachments::uuid[]) and e.account_id = $accountId`,
).narrow<{
  kind: 'upload' | 'attachment';
  id: string;
  filename: string;
  content_type: string;
  size_bytes: string;
  storage_path: string;
}>();
