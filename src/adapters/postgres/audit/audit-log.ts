/** `AuditLog` on PostgreSQL. Alone writes `audit_log` and `audit_outcomes`. */
import type { Pool } from 'pg';
import type { AuditEntry, AuditLog } from '../../../app/audit/audit-ports.ts';
import { run, statement, type RowOf } from '../db/statement.ts';

export function createAuditLog(pool: Pool): AuditLog {
  return {
    async begin({ author, act, target, details }) {
      const values = { author: JSON.stringify(author), act, target, details: JSON.stringify(details) };
      const [row] = await run(pool, BEGIN, values);
      if (row === undefined) throw new Error('an entry of the audit log was not made');
      return row.position;
    },

    async end(position, code, details) {
      await run(pool, END, { position, code, details: JSON.stringify(details) });
    },

    async list({ author, act, since, until }, before, limit) {
      return (await run(pool, LIST, { author, act, since, until, before, limit })).map(toEntry);
    },
  };
}

function toEntry(row: RowOf<typeof LIST>): AuditEntry {
  const outcome = row.ended_at === null ? 'unknown' : row.code === null ? 'done' : 'refused';
  return {
    position: row.position,
    at: row.at,
    author: row.author,
    act: row.act,
    target: row.target,
    details: row.details,
    outcome,
    code: row.code,
    result: outcome === 'done' ? row.result : null,
  };
}

const BEGIN = statement(
  'begin-audit',
  `insert into audit_log (author, act, target, details) values ($author, $act, $target, $details)
  returning position`,
);

const END = statement(
  'end-audit',
  'insert into audit_outcomes (position, code, details) values ($position, $code, $details)',
);

const LIST = statement(
  'list-audit',
  `select l.position, l.at, l.author, l.act, l.target, l.details, o.at as ended_at, o.code, o.details as result
  from audit_log l left join audit_outcomes o on o.position = l.position
  where ($before::bigint is null or l.position < $before) and ($act::text is null or l.act = $act)
    and ($author::text is null or $author in (l.author ->> 'id', l.author ->> 'kind'))
    and ($since::timestamptz is null or l.at >= $since) and ($until::timestamptz is null or l.at < $until)
  order by l.position desc limit $limit`,
  { plannedEachTime: 'which index is best depends on the filters' },
);
