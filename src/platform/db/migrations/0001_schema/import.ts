/** The progress of imports, so that one that was interrupted, or is repeated, need not read the same mail again. */
export const IMPORT = [
  `create table import_marks (
    account_id account_id,
    -- SHA-256 of what makes the file that file; no name of a file is kept
    source bytea check (length(source) = 32),
    -- Of an mbox file: everything before is done. null: the whole file is.
    position bigint check (position >= 0),
    -- SHA-256 of the bytes before the position
    digest bytea check (length(digest) = 32),
    marked_at timestamptz not null default now(),
    primary key (account_id, source),
    check ((position is null) = (digest is null))
  )`,
  // One row per run of the command, for operators who watch it from elsewhere
  `create table imports (
    id uuid primary key default gen_random_uuid(),
    account_id account_id not null,
    started_at timestamptz not null default now(),
    -- While it runs, every few seconds
    updated_at timestamptz not null default now(),
    -- null: it runs, or was cut off
    outcome text check (outcome in ('done', 'stopped', 'failed')),
    imported bigint not null default 0,
    known bigint not null default 0,
    left_out bigint not null default 0,
    failed bigint not null default 0,
    bytes_done bigint not null default 0,
    -- null: not counted yet
    bytes_total bigint
  )`,
  `create index imports_by_start on imports (started_at desc, id)`,
];
