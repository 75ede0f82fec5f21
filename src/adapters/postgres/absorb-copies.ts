/**
 * Copies of a sent email that were recorded before it was known that they are copies: because the email itself was
 * recorded later, or because the relay had replaced its Message-ID. The sent email stays, with the identifier that its
 * sender got; the identifiers of the copies become aliases of it.
 */
import { sql, type Transaction } from 'kysely';
import type { RecordedSend } from '../../app/ports.ts';
import type { Database } from './database.ts';
import { lockSummariesOf } from './lock-summaries.ts';
import { settleCustomers } from './settle-customers.ts';

/**
 * Deletes the records of the account that have one of the identity keys; `emailId`, which exists, takes their place.
 */
export async function absorbCopies(
  trx: Transaction<Database>,
  accountId: string,
  emailId: string,
  identityKeys: readonly string[],
): Promise<RecordedSend> {
  const { rows } = await sql<{ id: string; paths: string[] }>`
    select e.id, array_remove(array_agg(a.storage_path) || e.raw_path, null) as paths
    from emails e left join email_attachments a on a.email_id = e.id
    where e.account_id = ${accountId} and e.identity_key = any(${toBytes(identityKeys)}) and e.id <> ${emailId}
    group by e.id`.execute(trx);
  if (rows.length === 0) return { cameBack: false, orphans: [] };
  const ids = rows.map(({ id }) => id);
  await lockSummariesOf(trx, ids);
  await sql`update email_aliases set email_id = ${emailId} where email_id = any(${ids})`.execute(trx);
  await sql`insert into email_aliases (id, email_id) select unnest(${ids}::uuid[]), ${emailId}`.execute(trx);
  await sql`update mailbox_messages set email_id = ${emailId} where email_id = any(${ids})`.execute(trx);
  await sql`update emails set anchor_id = ${emailId} where anchor_id = any(${ids})`.execute(trx);
  // What came back about a copy is matched again, to the sent email and its recipients.
  await sql`
    update bounce_reports set email_id = null, next_match_at = now() where email_id = any(${ids})`.execute(
    trx,
  );
  const deleted = await trx.deleteFrom('emails').where('id', 'in', ids).returning('thread_id').execute();
  await settleCustomers(trx, [...new Set(deleted.map((row) => row.thread_id))]);
  return { cameBack: true, orphans: rows.flatMap(({ paths }) => paths) };
}

const toBytes = (keys: readonly string[]) => keys.map((key) => Buffer.from(key, 'hex'));
