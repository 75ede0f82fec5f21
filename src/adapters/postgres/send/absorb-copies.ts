/**
 * Copies of a sent email that were recorded before it was known that they are copies: because the email itself was
 * recorded later, or because the relay had replaced its Message-ID. The sent email stays, with the identifier that its
 * sender got; the identifiers of the copies become aliases of it, what they say its variants. Whether they really are
 * copies is decided when they are compared (app/receive/variants.ts), after the commit, because that reads the raw message.
 */
import { sql, type Transaction } from 'kysely';
import type { RecordedSend } from '../../../app/send/outbound-ports.ts';
import type { Database } from '../db/database.ts';
import { addAliases } from '../emails/email-aliases.ts';
import { lockSummariesOf } from '../emails/lock-summaries.ts';
import { settleCustomers } from '../customers/settle-customers.ts';
import { moveAnchors } from '../threads/place-emails.ts';

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
    select e.id, array(select a.storage_path from email_attachments a where a.email_id = e.id) as paths
    from emails e
    where e.account_id = ${accountId} and e.identity_key = any(${toBytes(identityKeys)}) and e.id <> ${emailId}`.execute(
    trx,
  );
  if (rows.length === 0) return { cameBack: false, orphans: [] };
  const ids = rows.map(({ id }) => id);
  await lockSummariesOf(trx, ids);
  await addAliases(trx, emailId, ids);
  await sql`update mailbox_messages set email_id = ${emailId} where email_id = any(${ids})`.execute(trx);
  await moveAnchors(trx, emailId, ids);
  // What came back about a copy is matched again, to the sent email and its recipients.
  await sql`
    update bounce_reports set email_id = null, next_match_at = now() where email_id = any(${ids})`.execute(
    trx,
  );
  const orphans = await keepContents(trx, emailId, ids);
  const deleted = await trx.deleteFrom('emails').where('id', 'in', ids).returning('thread_id').execute();
  await settleCustomers(trx, [...new Set(deleted.map((row) => row.thread_id))]);
  return { cameBack: true, orphans: [...rows.flatMap(({ paths }) => paths), ...orphans] };
}

/** Of copies and of their variants; each once. Returns the paths of files that nothing refers to any more. */
async function keepContents(
  trx: Transaction<Database>,
  emailId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  await sql`select from emails where id = ${emailId} for no key update`.execute(trx);
  await sql`
    insert into email_variants (id, email_id, content_digest, received_at, received_by, is_sent_copy, text_body,
      raw_size_bytes, raw, raw_path, is_compared)
    select distinct on (digest) id, ${emailId}, digest, created_at, received_by, direction = 'outbound', text_body,
      raw_size_bytes, raw, raw_path, false
    from (select *, coalesce(content_digest, sha256(id::text::bytea)) as digest from emails where id = any(${ids})) e
    order by digest, created_at, id
    on conflict (email_id, content_digest) do update set is_compared = false`.execute(trx);
  await sql`
    update email_variants v set email_id = ${emailId}, is_compared = false
    from (
      select distinct on (content_digest) id from email_variants n where email_id = any(${ids}) and not exists (
        select from email_variants o where o.email_id = ${emailId} and o.content_digest = n.content_digest
      ) order by content_digest, received_at, id
    ) n
    where v.id = n.id`.execute(trx);
  const { rows } = await sql<{ raw_path: string }>`
    select raw_path from (
      select raw_path from emails where id = any(${ids})
      union all
      select raw_path from email_variants where email_id = any(${ids})
    ) c
    where raw_path is not null and not exists (
      select from email_variants v where v.email_id = ${emailId} and v.raw_path = c.raw_path
    )`.execute(trx);
  const refused = sql`
    insert into email_variants_refused as r (email_id, messages, last_at)
    select ${emailId}, sum(messages), max(last_at) from email_variants_refused where email_id = any(${ids})
    having count(*) > 0
    on conflict (email_id) do update
      set messages = r.messages + excluded.messages, last_at = greatest(r.last_at, excluded.last_at)`;
  await refused.execute(trx);
  return rows.map((row) => row.raw_path);
}

const toBytes = (keys: readonly string[]) => keys.map((key) => Buffer.from(key, 'hex'));
