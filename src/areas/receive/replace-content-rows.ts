/**
 * Replaces a received message by a Sent copy with the same identity and other content, when the received one was recorded first: the Sent
 * copy is what the account's owner wrote. The received message becomes a variant.
 */
import type { Pool } from 'pg';
import { type ReadEmail, writeRaw } from '../emails/write-emails.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { readEmailOf, replaceReading } from './reparse-store.ts';
import type { Reading } from './insert-received.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { dropVariant, keepAsVariant } from '../emails/variants.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';
import { markAsSent } from './sent-copies.ts';
import type { RecordedRaw } from '../../platform/files/file-ports.ts';
import type { MailSource } from '../../core/message/mail-source.ts';

export interface SentContentRecord {
  /** The id of the variant that the received content becomes. */
  readonly variantId: string;
  readonly reading: Reading;
  readonly raw: RecordedRaw;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly rawDigest: string;
  readonly receivedBy: MailSource | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface ContentReplacements {
  /** The reading of an email that was recorded from a raw message; null when it does not exist. */
  readRecorded(id: string): Promise<ReadEmail | null>;
  /**
   * Turns a received email into the one that was sent from the account, with the content of its Sent copy; its earlier
   * content becomes a variant. Returns the paths of files that nothing refers to any more, except attachments; null when
   * the email is outbound already, or gone.
   */
  replaceBySent(email: ReadEmail, copy: SentContentRecord): Promise<readonly string[] | null>;
}

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
