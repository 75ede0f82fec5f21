/**
 * Identifiers of records that turned out to be copies of a sent email: they were given out, so they stay valid. And an
 * index of the emails that were sent by other programs, so that every send can ask for one of its second.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table email_aliases (
    id uuid primary key,
    email_id uuid not null references emails on delete cascade,
    check (id <> email_id)
  )`,
  `create index email_aliases_email on email_aliases (email_id)`,
  `create index emails_sent_elsewhere on emails (account_id, date)
    where direction = 'outbound' and identity_key is not null`,
];
