/** `ImportMarks` on PostgreSQL. */
import type { Pool } from 'pg';
import type { ImportMarks } from './import-ports.ts';
import { run, statement } from '../../platform/db/statement.ts';

/** How long an import may rest, in days. */
const KEPT_DAYS = 90;

export function createImportMarks(pool: Pool): ImportMarks {
  const toBytes = (keys: readonly string[]) => keys.map((key) => Buffer.from(key, 'hex'));
  return {
    async findDone(accountId, keys) {
      const rows = await run(pool, FIND_DONE, { accountId, keys: toBytes(keys) });
      return new Set(rows.map(({ source }) => source.toString('hex')));
    },

    async findMbox(accountId, key) {
      const [row] = await run(pool, FIND_MBOX, { accountId, key: Buffer.from(key, 'hex') });
      return row === undefined
        ? null
        : { position: Number(row.position), digest: row.digest.toString('hex') };
    },

    async markDone(accountId, keys) {
      await run(pool, MARK_DONE, { accountId, keys: toBytes([...new Set(keys)].sort()) });
    },

    async markMbox(accountId, key, { position, digest }) {
      await run(pool, MARK_MBOX, {
        accountId,
        key: Buffer.from(key, 'hex'),
        position: String(position),
        digest: Buffer.from(digest, 'hex'),
      });
    },

    async deleteOld() {
      await run(pool, DELETE_OLD, { days: KEPT_DAYS });
    },
  };
}

const FIND_DONE = statement(
  'import-find-done',
  `select source from import_marks where account_id = $accountId and source = any($keys) and position is null`,
);

const FIND_MBOX = statement(
  'import-find-mbox',
  `select position, digest from import_marks where account_id = $accountId and source = $key and position is not null`,
).narrow<{ position: string; digest: Buffer }>();

const MARK_DONE = statement(
  'import-mark-done',
  `insert into import_marks (account_id, source) select $accountId, unnest($keys::bytea[])
         on conflict (account_id, source) do update set position = null, digest = null, marked_at = now()`,
);

const MARK_MBOX = statement(
  'import-mark-mbox',
  `insert into import_marks (account_id, source, position, digest) values ($accountId, $key, $position, $digest)
         on conflict (account_id, source) do update
         set position = excluded.position, digest = excluded.digest, marked_at = now()`,
);

const DELETE_OLD = statement(
  'import-delete-old',
  `delete from import_marks where marked_at < now() - make_interval(days => $days) and clock_is_certain()`,
);
