/**
 * Threads, emails, their deliveries and attachments.
 *
 * Accounts live in the configuration, customers and companies in the caller's system, so none of them is a table.
 * `thread_message_ids` gives every Message-ID seen or referenced to exactly one thread of its account;
 * `thread_aliases` keeps the identifier of a merged thread valid for ever.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create domain account_id as text check (value ~ '^[a-z0-9][a-z0-9_-]{0,62}$')`,
  // Without angle brackets. The bound is RFC 5322 §2.1.1's longest line and keeps index entries below their limit.
  `create domain message_id as text check (length(value) between 1 and 998 and value !~ '[[:space:]<>[:cntrl:]]')`,

  `create table email_threads (
    id uuid primary key,
    account_id account_id not null,
    customer_id uuid,
    company_id uuid,
    created_at timestamptz not null default now(),
    unique (account_id, id)
  )`,

  `create table thread_aliases (
    id uuid primary key,
    thread_id uuid not null references email_threads,
    merged_at timestamptz not null default now(),
    check (id <> thread_id)
  )`,
  `create index thread_aliases_thread on thread_aliases (thread_id)`,

  `create table thread_message_ids (
    account_id account_id,
    message_id message_id,
    thread_id uuid not null,
    primary key (account_id, message_id),
    foreign key (account_id, thread_id) references email_threads (account_id, id)
  )`,
  `create index thread_message_ids_thread on thread_message_ids (thread_id)`,

  `create table emails (
    id uuid primary key,
    account_id account_id not null,
    thread_id uuid not null,
    direction text not null check (direction in ('inbound', 'outbound')),
    message_id message_id not null,
    relay_message_id message_id,
    in_reply_to text[] not null,
    reference_ids text[] not null,
    from_address jsonb not null check (jsonb_typeof(from_address) = 'object'),
    to_addresses jsonb not null check (jsonb_typeof(to_addresses) = 'array'),
    cc_addresses jsonb not null check (jsonb_typeof(cc_addresses) = 'array'),
    bcc_addresses jsonb not null check (jsonb_typeof(bcc_addresses) = 'array'),
    subject text not null,
    text_body text not null,
    html_body text,
    date timestamptz not null,
    customer_id uuid,
    company_id uuid,
    state text not null,
    state_detail text,
    placement_rule text not null check (placement_rule in ('thread_id', 'in_reply_to', 'new')),
    placement_message_id message_id,
    raw_size_bytes bigint not null check (raw_size_bytes >= 0),
    raw bytea,
    raw_path text,
    created_at timestamptz not null default now(),
    foreign key (account_id, thread_id) references email_threads (account_id, id),
    constraint emails_raw_in_one_place check ((raw is null) <> (raw_path is null)),
    constraint emails_state_fits_direction check (
      case direction
        when 'inbound' then state = 'received'
        else state in ('queued', 'sending', 'sent', 'deferred', 'failed', 'unknown', 'cancelled')
      end
    )
  )`,
  // GET /api/thread/{id}, and the newest email of a thread
  `create index emails_thread on emails (thread_id, date, id)`,
  // GET /api/customer/{id}/emails
  `create index emails_customer on emails (customer_id, date desc, id desc) where customer_id is not null`,
  // The email a reply answers
  `create index emails_message_id on emails (account_id, message_id)`,
  `create index emails_relay_message_id on emails (account_id, relay_message_id) where relay_message_id is not null`,

  `create table email_deliveries (
    email_id uuid references emails on delete cascade,
    ordinal int check (ordinal >= 0),
    address text not null,
    state text not null check (state in ('accepted', 'deferred', 'rejected', 'unknown')),
    reply_code int check (reply_code between 200 and 599),
    reply_status text check (reply_status ~ '^[245]\\.[0-9]{1,3}\\.[0-9]{1,3}$'),
    reply_text text,
    primary key (email_id, ordinal),
    check ((reply_code is null) = (reply_text is null))
  )`,

  `create table email_attachments (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    ordinal int not null check (ordinal >= 0),
    filename text not null check (filename <> ''),
    content_type text not null check (content_type like '%/%'),
    size_bytes bigint not null check (size_bytes >= 0),
    storage_path text not null unique check (storage_path ~ '^[^/]+/[^/]+/[^/]+$' and storage_path not like '%/..'),
    sha256 bytea not null check (length(sha256) = 32),
    unique (email_id, ordinal)
  )`,

  // Addresses learned from sends that named a customer. An address of two customers decides nothing.
  `create table customer_addresses (
    address text,
    customer_id uuid,
    created_at timestamptz not null default now(),
    primary key (address, customer_id),
    check (address = lower(address))
  )`,
];
