/**
 * Records outbound emails, many of them in one commit.
 *
 * An email that starts a conversation touches nothing that another one could touch at the same moment, so such emails
 * are collected while a commit is under way and written together by one statement. An email that joins or answers
 * something takes a transaction of its own, which links Message-IDs and may merge threads.
 */
import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import type { OutboundRecord } from '../../app/ports.ts';
import type { Database } from './database.ts';
import { insertEmail, insertEmails } from './insert-emails.ts';
import { linkThread } from './link-thread.ts';
import { inLinkingTransaction } from './linking-transaction.ts';
import { adoptCustomer } from './move-threads.ts';
import { guard } from './pool.ts';

/** Emails in one statement at most: beyond this a larger batch gains nothing and only makes the first one wait. */
const MAX_BATCH = 64;
/** Bytes of raw messages in one statement at most; bounds the memory of a batch. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

interface Waiting {
  readonly record: OutboundRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Returns the function that records one email; see `MessageStore.recordOutbound`. */
export function createOutboundRecorder(
  pool: Pool,
  db: Kysely<Database>,
): (record: OutboundRecord) => Promise<void> {
  const waiting: Waiting[] = [];
  let isWriting = false;

  /** One batch at a time: two at once made smaller ones, and cost the server a quarter more for each email. */
  function start(): void {
    if (isWriting || waiting.length === 0) return;
    isWriting = true;
    void writeBatch(takeBatch(waiting)).finally(() => {
      isWriting = false;
      start();
    });
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await guard(
        insertEmails(
          pool,
          batch.map((item) => item.record),
        ),
      );
      for (const item of batch) item.resolve();
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) {
        for (const item of batch) item.reject(error);
        return;
      }
      // One record that the database refuses must not take the others with it.
      for (const item of batch) await writeBatch([item]);
    }
  }

  return (record) => {
    if (record.placement.rule !== 'new' || record.inReplyTo.length > 0) return recordLinked(db, record);
    return new Promise((resolve, reject) => {
      waiting.push({ record, resolve, reject });
      start();
    });
  };
}

function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'database_unavailable';
}

function takeBatch(waiting: Waiting[]): readonly Waiting[] {
  let count = 0;
  let bytes = 0;
  for (const { record } of waiting) {
    bytes += record.rawSizeBytes;
    if (count > 0 && (count >= MAX_BATCH || bytes > MAX_BATCH_BYTES)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

async function recordLinked(db: Kysely<Database>, record: OutboundRecord): Promise<void> {
  const mayMerge = record.placement.rule !== 'thread_id';
  await inLinkingTransaction(db, async (trx, exclusive) => {
    const known = await trx.selectFrom('emails').select('id').where('id', '=', record.id).executeTakeFirst();
    if (known !== undefined) return;
    const { threadId } = await linkThread(trx, {
      accountId: record.accountId,
      threadId: record.threadId,
      email: {
        id: record.id,
        messageIds:
          record.relayMessageId === null ? [record.messageId] : [record.messageId, record.relayMessageId],
        links: [...record.inReplyTo, ...record.references.toReversed()],
        date: record.date,
      },
      mayMerge,
      exclusive,
    });
    await insertEmail(trx, { ...record, threadId });
    await adoptCustomer(trx, threadId, record.customerId, record.companyId);
  });
}
