/** Sent emails that are part of an automatic exchange, and with whom: so loops are found. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table emails
    -- An address in lower case
    add column exchange_with text`,
  `create index emails_exchange on emails (account_id, exchange_with, created_at) where exchange_with is not null`,
];
