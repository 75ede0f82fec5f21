/**
 * Received emails: what makes one itself, so that it is recorded once, and what was read from it.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table emails
    -- SHA-256 of Message-ID, Date, From and subject
    add column identity_key bytea check (length(identity_key) = 32),
    add column reply_text text,
    add column sender_address jsonb check (jsonb_typeof(sender_address) = 'object'),
    add column reply_to_addresses jsonb not null default '[]' check (jsonb_typeof(reply_to_addresses) = 'array'),
    add column defects text[] not null default '{}',
    add column automatic jsonb check (jsonb_typeof(automatic) = 'object'),
    add column new_participant boolean not null default false,
    drop constraint emails_placement_rule_check,
    add constraint emails_placement_rule_check check (
      placement_rule in ('thread_id', 'in_reply_to', 'references', 'message_id', 'bounce', 'new')
    ),
    add constraint emails_inbound_is_identified check (
      case direction
        when 'inbound' then identity_key is not null and reply_text is not null
        else identity_key is null and reply_text is null
      end
    )`,
  // Long texts on their way into an email, within one transaction: there is never a row to be seen, and none to be restored
  `create unlogged table text_pieces (
    owner_id uuid not null,
    name text not null,
    ordinal integer not null,
    piece text not null,
    primary key (owner_id, name, ordinal)
  )`,
  // They are gone before compressing them would have gained anything
  'alter table text_pieces alter column piece set storage external',
  // One email, one record
  `create unique index emails_identity on emails (account_id, identity_key) where identity_key is not null`,
];
