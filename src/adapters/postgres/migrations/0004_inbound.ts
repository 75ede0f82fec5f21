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
  // One email, one record
  `create unique index emails_identity on emails (account_id, identity_key) where identity_key is not null`,
];
