/** `ImportLog` on PostgreSQL. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { ImportLog, ImportRecord } from './import-ports.ts';
import { run, statement } from '../../platform/db/statement.ts';

/** As long as an import may rest (import-marks.ts), in days. */
const KEPT_DAYS = 90;
/** A running import reports every two seconds; one that waits for the database reports when the database is back, or when it has failed. */
const CUT_OFF_AFTER_SECONDS = 180;

export function createImportLog(pool: Pool): ImportLog {
  return {
    async begin(accountId) {
      const [row] = await run(pool, BEGIN, { accountId, days: KEPT_DAYS });
      if (row === undefined) throw new Error('an import was not noted');
      return row.id;
    },

    async note(id, { imported, known, leftOut, failed, bytesDone, bytesTotal }, outcome) {
      await run(pool, NOTE, { id, imported, known, leftOut, failed, bytesDone, bytesTotal, outcome });
    },

    async list(filter, limit) {
      const rows = await run(pool, LIST, {
        accountIds: accountIdsOf(filter),
        limit,
        cutOffSeconds: CUT_OFF_AFTER_SECONDS,
      });
      return rows.map((row) => ({
        id: row.id,
        accountId: row.account_id,
        startedAt: row.started_at,
        updatedAt: row.updated_at,
        state: row.state,
        imported: row.imported,
        known: row.known,
        leftOut: row.left_out,
        failed: row.failed,
        bytesDone: row.bytes_done,
        bytesTotal: row.bytes_total,
      }));
    },
  };
}

const BEGIN = statement(
  'import-begin',
  `with forgotten as (
    delete from imports where updated_at < now() - make_interval(days => $days) and clock_is_certain()
  )
  insert into imports (account_id) values ($accountId) returning id`,
);

const NOTE = statement(
  'import-note',
  `update imports set updated_at = now(), outcome = $outcome, imported = $imported::float8, known = $known::float8,
    left_out = $leftOut::float8, failed = $failed::float8, bytes_done = $bytesDone::float8, bytes_total = $bytesTotal::float8
  where id = $id`,
);

const LIST = statement(
  'import-list',
  `select id, account_id, started_at, updated_at, imported::float8 as imported, known::float8 as known,
    left_out::float8 as left_out, failed::float8 as failed, bytes_done::float8 as bytes_done,
    bytes_total::float8 as bytes_total,
    coalesce(
      outcome,
      case when updated_at < now() - make_interval(secs => $cutOffSeconds) then 'cut_off' else 'running' end
    ) as state
  from imports
  where $accountIds::text[] is null or account_id = any ($accountIds)
  order by started_at desc, id
  limit $limit`,
).narrow<{
  state: ImportRecord['state'];
  imported: number;
  known: number;
  left_out: number;
  failed: number;
  bytes_done: number;
  bytes_total: number | null;
}>();
