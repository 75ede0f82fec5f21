/**
 * What is set aside is recognised by its header, and a try that an operator asked for begins the delays anew.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table mailbox_messages
    -- subject, from (name, address), date, size_bytes; while it has no email, and once its header was read
    add column header_summary jsonb,
    -- How many of its delays it had since it was set aside, or since an operator asked for a try
    add column quarantine_delays int not null default 0 check (quarantine_delays >= 0)`,
];
