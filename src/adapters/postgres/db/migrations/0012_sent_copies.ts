/**
 * Emails that another program sent from an account, known from their copy in the Sent mailbox: they are outbound and,
 * like received ones, have an identity and a new text.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table emails
    drop constraint emails_inbound_is_identified,
    add constraint emails_read_is_identified check (
      (identity_key is null) = (reply_text is null) and (direction = 'outbound' or identity_key is not null)
    )`,
];
