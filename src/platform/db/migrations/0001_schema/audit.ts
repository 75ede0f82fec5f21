/**
 * The audit log: the author and target of each act, and its outcome. Both tables only ever grow: triggers refuse every other change, except
 * that a transaction which declares it may forget entries older than the least possible AUDIT_DAYS. An entry is written before its act, so
 * that no act goes without one; an entry without an outcome was cut off in between.
 */

/** Younger entries are never deleted; see AUDIT_DAYS. */
const LEAST_AUDIT_DAYS = 30;

export const AUDIT = [
  `create table audit_log (
    position bigint generated always as identity primary key,
    at timestamptz not null default now(),
    author jsonb not null,
    act text not null,
    -- Identifier of what the act is about
    target text,
    details jsonb not null
  )`,
  `create index audit_log_act on audit_log (act, position)`,
  `create table audit_outcomes (
    position bigint primary key references audit_log,
    at timestamptz not null default now(),
    -- null: done; else the code of the refusal or failure
    code text,
    details jsonb not null
  )`,
  `create function refuse_audit_change() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and current_setting('email_worker.forgets_audit', true) = 'on' and exists (
      select from audit_log l where l.position = old.position and l.at < now() - interval '${LEAST_AUDIT_DAYS} days'
    ) then
      return old;
    end if;
    raise exception 'the audit log is never changed';
  end $$`,
  ...['audit_log', 'audit_outcomes'].map(
    (table) =>
      `create trigger ${table}_refuse_change before update or delete on ${table}
    for each row execute function refuse_audit_change()`,
  ),
];
