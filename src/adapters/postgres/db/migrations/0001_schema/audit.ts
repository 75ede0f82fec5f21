/**
 * The audit log: who asked for what, and what became of it. Both tables are only ever added to: triggers refuse everything else. An
 * entry is written before its act, so that no act goes without one; an entry without an outcome was cut off in between.
 */
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
    raise exception 'the audit log is never changed';
  end $$`,
  ...['audit_log', 'audit_outcomes'].map(
    (table) =>
      `create trigger ${table}_refuse_change before update or delete on ${table}
    for each row execute function refuse_audit_change()`,
  ),
];
