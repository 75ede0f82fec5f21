/** What imports have done, so that one that was interrupted, or is repeated, need not read it again. */
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
];
