/** Identifiers of records that were merged into another email: they lead to it for ever. Alone writes `email_aliases`. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';

/** The emails that identifiers lead to, each once, sorted: a record that turned out to be a copy lives on in another one. */
export async function resolveEmails(
  trx: Transaction<Database>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct coalesce(a.email_id, n.id) as id
    from unnest(${[...ids]}::uuid[]) as n (id) left join email_aliases a on a.id = n.id
    order by 1`.execute(trx);
  return rows.map((row) => row.id);
}

/** From now on the identifiers, and all that led to them, lead to the email. */
export async function addAliases(
  trx: Transaction<Database>,
  emailId: string,
  ids: readonly string[],
): Promise<void> {
  await sql`update email_aliases set email_id = ${emailId} where email_id = any(${[...ids]}::uuid[])`.execute(
    trx,
  );
  await sql`
    insert into email_aliases (id, email_id) select id, ${emailId} from unnest(${[...ids]}::uuid[]) id`.execute(
    trx,
  );
}
