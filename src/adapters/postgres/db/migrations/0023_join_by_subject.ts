/**
 * The base subject of emails, for accounts that join replies without references by it.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // RFC 5256 §2.1; null in accounts that do not join by subject
  `alter table emails add column subject_key text check (length(subject_key) between 1 and 200)`,
  `create index emails_subject_key on emails (account_id, subject_key, date) where subject_key is not null`,
];
