/** Files that callers put here for a later send; `expires_at` is a day later. */
export const UPLOADS = [
  `create table uploads (
    id uuid primary key,
    account_id account_id not null,
    filename text not null check (filename <> ''),
    content_type text not null,
    size_bytes bigint not null check (size_bytes >= 0),
    sha256 bytea not null check (length(sha256) = 32),
    storage_path text not null unique,
    expires_at timestamptz not null
  )`,
  `create index uploads_expires_at on uploads (expires_at)`,
];
