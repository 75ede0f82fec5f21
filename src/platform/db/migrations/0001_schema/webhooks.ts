/**
 * Webhooks: endpoints that get events by HTTP; see docs/decisions/0020-webhooks.md. The feed is their queue: each webhook has a position in
 * it. The values that change with every delivery have a row of their own (`webhook_positions`), on which the delivering process has a
 * lease.
 */
export const WEBHOOKS = [
  // One row; its lock puts changes in the order of their commits.
  `create table webhook_clock (version bigint not null default 0)`,
  `create unique index webhook_clock_one on webhook_clock ((true))`,
  `insert into webhook_clock default values`,

  `create table webhooks (
    id uuid primary key,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- Of \`webhook_clock\`, from its last change
    revision bigint not null,
    url text not null,
    description text not null,
    -- null: all
    types text[],
    account_id text,
    customer_id uuid,
    -- null: both
    is_historical boolean,
    payload text not null check (payload in ('full', 'thin')),
    max_in_flight int not null check (max_in_flight between 1 and 100),
    header_names text[] not null,
    -- The secrets, and the values of the headers; \`key_id\` names the key
    sealed bytea not null,
    key_id bytea not null,
    old_secret_until timestamptz,
    paused_at timestamptz,
    pause_reason text check (pause_reason in ('by_hand', 'gone', 'failed', 'events_expired', 'secret_unreadable')),
    pause_detail text,
    -- What failed before then is tried at once.
    resumed_at timestamptz,
    check ((paused_at is null) = (pause_reason is null))
  )`,

  `create table webhook_positions (
    webhook_id uuid primary key references webhooks on delete cascade,
    -- Everything up to it is settled.
    position bigint not null,
    -- Events behind it that are settled already, and those that failed
    beyond jsonb not null default '{"delivered":[],"failed":[]}',
    -- Changes when the position is moved by hand: what was under way then may not move it back.
    epoch bigint not null default 0,
    owner uuid,
    lease_until timestamptz not null default now()
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,

  `create table webhook_deliveries (
    webhook_id uuid not null,
    started_at timestamptz not null,
    id uuid not null,
    event_id text not null,
    type text not null,
    -- 1 for the first
    attempt int not null,
    duration_ms int not null,
    outcome text not null check (outcome in ('delivered', 'failed')),
    -- Of HTTP; null when there was no answer
    status int,
    error text,
    -- Its beginning
    answer text not null,
    primary key (webhook_id, started_at, id)
  ) partition by range (started_at)`,
  `create index webhook_deliveries_failed on webhook_deliveries (webhook_id, started_at, id) where outcome = 'failed'`,

  `create function make_webhook_partition(day bigint) returns void language plpgsql as $$
  declare
    name text = 'webhook_deliveries_' || to_char('1970-01-01'::date + day::int, 'YYYYMMDD');
  begin
    if to_regclass(name) is not null then
      return;
    end if;
    -- One process at a time; the next one finds it made.
    perform pg_advisory_xact_lock(1701669740);
    if to_regclass(name) is not null then
      return;
    end if;
    -- Attaching one lets others go on; making it as a partition does not.
    execute format('create table %I (like webhook_deliveries including defaults including constraints including indexes)', name);
    perform protect_table(name);
    execute format('alter table webhook_deliveries attach partition %I for values from (%L) to (%L)', name,
      to_timestamp(day * 86400), to_timestamp((day + 1) * 86400));
  end $$`,

  // Forgets whole days; returns how many. Dropping a table shuts all readers out: if another transaction reads for long, as a
  // backup does, this does not wait for it and returns null.
  `create function forget_webhook_deliveries(kept_days int) returns int language plpgsql as $$
  begin
    perform set_config('lock_timeout', '200ms', true);
    return drop_days('webhook_deliveries', kept_days);
  exception when lock_not_available then
    return null;
  end $$`,
];
