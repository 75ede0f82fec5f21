/** `ImportMarks` on PostgreSQL. */
import type { Pool } from 'pg';
import type { ImportMarks } from '../../../app/import/import-ports.ts';
import { createNamedQuery } from '../db/named-query.ts';

/** How long an import may rest, in days. */
const KEPT_DAYS = 90;

export function createImportMarks(pool: Pool): ImportMarks {
  const query = createNamedQuery(pool);
  const toBytes = (keys: readonly string[]) => keys.map((key) => Buffer.from(key, 'hex'));
  return {
    async findDone(accountId, keys) {
      const rows = await query<{ source: Buffer }>(
        'import-find-done',
        'select source from import_marks where account_id = $1 and source = any($2) and position is null',
        [accountId, toBytes(keys)],
      );
      return new Set(rows.map(({ source }) => source.toString('hex')));
    },

    async findMbox(accountId, key) {
      const [row] = await query<{ position: string; digest: Buffer }>(
        'import-find-mbox',
        'select position, digest from import_marks where account_id = $1 and source = $2 and position is not null',
        [accountId, Buffer.from(key, 'hex')],
      );
      return row === undefined
        ? null
        : { position: Number(row.position), digest: row.digest.toString('hex') };
    },

    async markDone(accountId, keys) {
      await query(
        'import-mark-done',
        `insert into import_marks (account_id, source) select $1, unnest($2::bytea[])
         on conflict (account_id, source) do update set position = null, digest = null, marked_at = now()`,
        [accountId, toBytes([...new Set(keys)].sort())],
      );
    },

    async markMbox(accountId, key, { position, digest }) {
      await query(
        'import-mark-mbox',
        `insert into import_marks (account_id, source, position, digest) values ($1, $2, $3, $4)
         on conflict (account_id, source) do update
         set position = excluded.position, digest = excluded.digest, marked_at = now()`,
        [accountId, Buffer.from(key, 'hex'), String(position), Buffer.from(digest, 'hex')],
      );
    },

    async deleteOld() {
      await query(
        'import-delete-old',
        'delete from import_marks where marked_at < now() - make_interval(days => $1)',
        [KEPT_DAYS],
      );
    },
  };
}
