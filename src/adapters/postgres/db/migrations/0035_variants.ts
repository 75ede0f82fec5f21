/**
 * Variants: messages with the identity of a recorded email and another content, each kept whole. What an email says, and
 * by which way it came, stands in the record; a send of ours says what its raw message says.
 *
 * `arrival_digest` knows a message of a mailbox again under another UID.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table emails
    add column content_digest bytea check (octet_length(content_digest) = 32),
    add column received_by jsonb`,
  // Files of emails and variants are looked for by their paths
  `create index emails_raw_path on emails (raw_path) where raw_path is not null`,

  `create table email_variants (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    content_digest bytea not null check (octet_length(content_digest) = 32),
    received_at timestamptz not null,
    received_by jsonb,
    is_sent_copy boolean not null,
    text_body text not null,
    raw_size_bytes bigint not null check (raw_size_bytes >= 0),
    raw bytea,
    raw_path text,
    -- False: it was recorded before the email of ours that it claims to be, and may be the same
    is_compared boolean not null default true,
    unique (email_id, content_digest),
    check ((raw is null) <> (raw_path is null))
  )`,
  `create index email_variants_raw_path on email_variants (raw_path) where raw_path is not null`,
  `create index email_variants_to_compare on email_variants (email_id) where not is_compared`,

  `create table email_variants_refused (
    email_id uuid primary key references emails on delete cascade,
    messages bigint not null,
    last_at timestamptz not null
  )`,

  `alter table mailbox_messages add column arrival_digest bytea check (octet_length(arrival_digest) = 32)`,
];
