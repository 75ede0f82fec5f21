/**
 * Addresses seen in mail, for completing typed ones. The worker that makes emails searchable fills these tables
 * (areas/addresses/learn-addresses.ts): each email has a row for each address that it mentions. The rows of the addresses
 * follow from these, so an email counts once however often it is read, and no longer counts when it is deleted.
 */
export const ADDRESSES = [
  `create table address_mentions (
    email_id uuid references emails on delete cascade,
    account_id account_id not null,
    address text collate "C" not null check (address ~ '.@.'),
    -- See core/address/mentions.ts
    kind smallint not null check (kind between 1 and 4),
    at timestamptz not null,
    name text not null check (length(name) <= 200),
    primary key (email_id, address)
  )`,
  `create index address_mentions_newest on address_mentions (account_id, address, kind, at desc, email_id desc)`,

  `create table known_addresses (
    account_id account_id,
    address text collate "C",
    name text not null default '',
    -- How recently and how often, in hours; higher is better. Time changes no order, so it is never counted anew.
    rank int not null default 0,
    is_written_to boolean not null default false,
    last_at timestamptz not null default '-infinity',
    -- What it is found by, each word behind a line feed
    words text collate "C" not null default '',
    primary key (account_id, address)
  )`,
  `create index known_addresses_rank on known_addresses (account_id, rank desc, address)`,

  `create table known_address_words (
    account_id account_id,
    word text collate "C",
    address text collate "C",
    primary key (account_id, word, address)
  )`,
];
