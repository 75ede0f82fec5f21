/**
 * Addresses that left a list of an account, by the link in one of its emails. `email_id` names that email, which may be gone.
 *
 * `unsubscribe_key` is the single key of the tokens in those links. It is stored here so that all processes use the same key, and a backup
 * includes it: links in old mail work for ever.
 */
export const UNSUBSCRIBES = [
  `create table unsubscribes (
    id uuid primary key,
    account_id account_id not null,
    list text collate "C" not null check (length(list) between 1 and 64),
    address text collate "C" not null check (length(address) between 1 and 320),
    email_id uuid not null,
    unsubscribed_at timestamptz not null default now(),
    unique (address, list, account_id)
  )`,
  `create table unsubscribe_key (
    only_one boolean primary key default true check (only_one),
    key bytea not null check (length(key) = 32)
  )`,
];
