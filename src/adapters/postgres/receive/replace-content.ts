/**
 * Replaces a received message by a Sent copy with the same identity and other content, when the received one was recorded first: the Sent
 * copy is what the account's owner wrote. The received message becomes a variant.
 */
import type { Pool } from 'pg';
import type { ContentReplacements, SentContentRecord } from '../../../app/receive/replacement-ports.ts';
import type { ReadEmail } from '../../../app/receive/reparse-ports.ts';
import { inLinkingTransaction } from '../db/linking-transaction.ts';
import { readEmailOf, replaceReading } from './reparse-store.ts';
import type { Executor } from '../db/statement.ts';
import { dropVariant, keepAsVariant } from '../emails/variants.ts';
import { writeRaw } from '../emails/write-emails.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';
import { markAsSent } from './sent-copies.ts';

/** The email has become a sent one meanwhile: roll back. */
class SentMeanwhile extends Error {}

export function createReplacements(pool: Pool): ContentReplacements {
  return {
    readRecorded: readEmailOf(pool),
    async replaceBySent(email, copy) {
      try {
        return await inLinkingTransaction(pool, (trx, exclusive) => replace(trx, email, copy, exclusive));
      } catch (error) {
        if (error instanceof SentMeanwhile) return null;
        throw error;
      }
    },
  };
}

async function replace(
  executor: Executor,
  email: ReadEmail,
  { variantId, reading, raw, rawDigest, receivedBy }: SentContentRecord,
  exclusive: boolean,
): Promise<readonly string[] | null> {
  const { id } = email;
  await lockThreadOf(executor, id);
  await keepAsVariant(executor, id, variantId);
  const replaced = await replaceReading(executor, email, reading, false, exclusive);
  if (replaced.kind === 'gone' || replaced.kind === 'same_as') throw new SentMeanwhile();
  const paths = await dropVariant(executor, id, rawDigest);
  const threadId = await markAsSent(executor, id, reading);
  if (threadId === null) throw new SentMeanwhile();
  await writeRaw(executor, id, reading, raw, receivedBy);
  // The counterparties of the email are its recipients now, not its sender.
  await relinkCustomers(executor, [threadId]);
  return paths;
}
