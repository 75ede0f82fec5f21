/** `AuditLog` on PostgreSQL. Only this module writes `audit_log` and `audit_outcomes`. */
import type { Pool } from 'pg';
import type { AuditEntry, AuditLog } from '../../platform/access/audit-ports.ts';
import { run, runCounting, statement, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { toStorableJson } from '../../core/storable-text.ts';

export function createAuditLog(pool: Pool): AuditLog {
  return {
    async begin({ author, act, target, targetAddress = null, details }) {
      const [row] = await run(pool, BEGIN, {
        author: toStorableJson(author),
        act,
        target,
        targetBytes: targetAddress === null ? null : Buffer.from(`audit:${targetAddress}`),
        details: toStorableJson(details),
      });
      if (row === undefined) throw new Error('an entry of the audit log was not made');
      return row.position;
    },

    async end(position, code, details) {
      await run(pool, END, { position, code, details: toStorableJson(details) });
    },

    async add(acts) {
      if (acts.length > 0) await run(pool, ADD, { acts: toStorableJson(acts) });
    },

    forget: (days, limit) =>
      inTransaction(pool, async (client) => {
        await run(client, LET_FORGET);
        const [oldest] = await run(client, FIND_OLD, { days, limit });
        const to = oldest?.to ?? null;
        if (to === null) return 0;
        await run(client, FORGET_OUTCOMES, { to });
        return runCounting(client, FORGET, { to });
      }),

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
  `insert into audit_log (author, act, target, details)
  values ($author, $act, case when $targetBytes::bytea is null then $target::text
    else 'digest:' || encode(keyed_digest($targetBytes), 'hex') end, $details)
  returning position`,
);

/** When an act names a key, its details record the state of that key: it shows whether a log-in was refused because of it. */
const ADD = statement(
  'add-audit',
  `with given as materialized (
    select nextval(pg_get_serial_sequence('audit_log', 'position')) as position, a.author, a.act, a.target, a.code,
      case when k.id is null then a.details else a.details || jsonb_build_object('key', case
        when k.revoked_at is not null then 'revoked' when k.expires_at <= now() then 'expired' else 'valid' end) end as details
    from jsonb_to_recordset($acts::jsonb) as a (author jsonb, act text, target text, code text, details jsonb)
    left join api_keys k on k.id = a.target
  ), begun as (
    insert into audit_log (position, author, act, target, details) overriding system value
    select position, author, act, target, details from given
  )
  insert into audit_outcomes (position, code, details) select position, code, '{}' from given`,
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

const LET_FORGET = statement(
  'let-forget-audit',
  `select set_config('email_worker.forgets_audit', 'on', true)`,
);

/** Positions grow with time, except for acts at the same moment. */
const FIND_OLD = statement(
  'find-old-audit',
  `select max(o.position) as to from (select position, at from audit_log order by position limit $limit::int) o
  where o.at < now() - make_interval(days => $days) and clock_is_certain()`,
);

const FORGET_OUTCOMES = statement(
  'forget-audit-outcomes',
  'delete from audit_outcomes where position <= $to::bigint',
);

const FORGET = statement('forget-audit', 'delete from audit_log where position <= $to::bigint');
