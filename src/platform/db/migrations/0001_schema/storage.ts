/** Which storage of files belongs to this database, and which processes can't use it. */
export const STORAGE = [
  `create table storage_identity (
    only_row boolean primary key default true check (only_row),
    id uuid not null,
    -- The storage has the id. Before that it is a proposal.
    is_confirmed boolean not null default false
  )`,
  `create table storage_faults (
    -- The DATA_DIR of the process; see data-dir/instance-id.ts
    instance_id text primary key,
    code text not null,
    detail text not null,
    since timestamptz not null default now()
  )`,
];
