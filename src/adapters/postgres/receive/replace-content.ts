/**
 * Puts a Sent copy in the place of a received message that was recorded first under the same identity with other content:
 * what was sent from the account is what its owner wrote. What was received becomes a variant.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import type { ContentReplacements, SentContentRecord } from '../../../app/receive/replacement-ports.ts';
import type { ReadEmail } from '../../../app/receive/reparse-ports.ts';
import type { Database } from '../db/database.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { readEmailOf, replaceReading } from './reparse-store.ts';
import { settleCustomers } from '../customers/settle-customers.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';
import { markAsSent } from './sent-copies.ts';

/** It is a sent email meanwhile: roll back. */
class SentMeanwhile extends Error {}

export function createReplacements(pool: Pool, db: Kysely<Database>): ContentReplacements {
  return {
    readRecorded: readEmailOf(pool),
    async replaceBySent(email, copy) {
      try {
        return await inLinkingTransaction(db, (trx, exclusive) => replace(trx, email, copy, exclusive));
      } catch (error) {
        if (error instanceof SentMeanwhile) return null;
        throw error;
      }
    },
  };
}

async function replace(
  trx: Transaction<Database>,
  email: ReadEmail,
  { variantId, reading, raw, receivedBy }: SentContentRecord,
  exclusive: boolean,
): Promise<readonly string[] | null> {
  const { id } = email;
  await lockThreadOf(trx, id);
  await sql`
    insert into email_variants
      (id, email_id, content_digest, received_at, received_by, is_sent_copy, text_body, raw_size_bytes, raw, raw_path)
    select ${variantId}, id, coalesce(content_digest, sha256(id::text::bytea)), created_at, received_by, false, text_body,
      raw_size_bytes, raw, raw_path
    from emails where id = ${id} and direction = 'inbound'`.execute(trx);
  const replaced = await replaceReading(trx, email, reading, false, exclusive);
  if (replaced.kind === 'gone' || replaced.kind === 'same_as') throw new SentMeanwhile();
  const digest = Buffer.from(reading.contentDigest, 'hex');
  const { rows } = await sql<{ raw_path: string | null }>`
    delete from email_variants where email_id = ${id} and content_digest = ${digest} returning raw_path`.execute(
    trx,
  );
  const threadId = await markAsSent(trx, id, reading);
  if (threadId === null) throw new SentMeanwhile();
  await trx
    .updateTable('emails')
    .set({
      raw: raw.raw,
      raw_path: raw.rawPath,
      raw_size_bytes: String(raw.rawSizeBytes),
      content_digest: digest,
      received_by: receivedBy === null ? null : JSON.stringify(receivedBy),
    })
    .where('id', '=', id)
    .execute();
  // Its counterparties are its recipients now, not its sender.
  await settleCustomers(trx, [threadId]);
  return rows.flatMap((row) => row.raw_path ?? []);
}
