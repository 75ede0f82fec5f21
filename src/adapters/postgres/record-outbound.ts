/**
 * Records outbound emails, many of them in one commit.
 *
 * An email that starts a conversation touches nothing that another one could touch at the same moment, so such emails
 * are collected while a commit is under way and written together by one statement. An email that joins or answers
 * something takes a transaction of its own, which links Message-IDs and may merge threads; so does one of which an
 * answer or a copy was recorded first.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import type { OutboundRecord, RecordedSend } from '../../app/ports.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { identityKey } from '../../core/message/identity.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { absorbCopies } from './absorb-copies.ts';
import { createBatches } from './batches.ts';
import type { Database } from './database.ts';
import { insertEmail, insertEmails, SENDS_LOCK, SENT_ELSEWHERE } from './insert-emails.ts';
import { linkThread } from './link-thread.ts';
import { inLinkingTransaction, RecordedMeanwhile } from './linking-transaction.ts';
import { guard } from './pool.ts';
import { findRewrittenCopy } from './rewritten-copies.ts';

/** Emails in one statement at most. */
const MAX_BATCH = 64;
/** Bytes of raw messages in one statement at most. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Returns the function that records one email; see `MessageStore.recordOutbound`. */
export function createOutboundRecorder(
  pool: Pool,
  db: Kysely<Database>,
): (record: OutboundRecord) => Promise<RecordedSend> {
  const recordNew = createBatches<OutboundRecord, RecordedSend>(
    { items: MAX_BATCH, bytes: MAX_BATCH_BYTES, failTogether: false },
    ({ rawSizeBytes }) => rawSizeBytes,
    async (records) => {
      const known = await guard(insertEmails(pool, records));
      return records.map((record) => (known.has(record.id) ? recordLinked(db, record) : NEVER_CAME_BACK));
    },
  );
  return (record) =>
    record.placement.rule !== 'new' || record.inReplyTo.length > 0
      ? recordLinked(db, record)
      : recordNew(record);
}

/** An email that was not handed over yet, or refused, has no copy. */
const MAY_COME_BACK: ReadonlySet<EmailState> = new Set<EmailState>(['sent', 'deferred', 'unknown']);

const NEVER_CAME_BACK: RecordedSend = { cameBack: false, orphans: [] };

/** Rolls back what was linked for an email that is recorded already. */
class AlreadyRecorded extends Error {}

async function recordLinked(db: Kysely<Database>, record: OutboundRecord): Promise<RecordedSend> {
  try {
    return await inLinkingTransaction(db, (trx, exclusive) => link(trx, record, exclusive));
  } catch (error) {
    if (error instanceof AlreadyRecorded) return NEVER_CAME_BACK;
    throw error;
  }
}

async function link(
  trx: Transaction<Database>,
  record: OutboundRecord,
  exclusive: boolean,
): Promise<RecordedSend> {
  const { id, accountId, relayMessageId } = record;
  const own = { id, messageIds: ownIds(record), links: [], date: record.date };
  const mayMerge = record.placement.rule !== 'thread_id';
  let { threadId } = await linkThread(trx, {
    accountId,
    threadId: record.threadId,
    email: { ...own, links: [...record.inReplyTo, ...record.references.toReversed()] },
    mayMerge,
    exclusive,
  });
  // Looked for after linking: whoever records a copy at this moment links the same Message-ID before.
  const known = await findKnown(trx, record, threadId);
  if (known.ids.has(id)) throw new AlreadyRecorded();
  let recorded = record;
  if (known.ids.size > 0 && relayMessageId === null && MAY_COME_BACK.has(record.state)) {
    const rewritten = await findRewrittenCopy(trx, record);
    if (rewritten !== null) recorded = { ...record, relayMessageId: rewritten };
  }
  // Whatever thread was chosen by hand, an answer or a copy that came first belongs to it.
  if (recorded !== record || (!mayMerge && known.isElsewhere)) {
    const email = { ...own, messageIds: ownIds(recorded) };
    ({ threadId } = await linkThread(trx, { accountId, threadId, email, mayMerge: true, exclusive }));
  }
  if (!(await insertEmail(trx, { ...recorded, threadId }))) throw new RecordedMeanwhile();
  if (known.ids.size === 0) return NEVER_CAME_BACK;
  return absorbCopies(trx, accountId, id, keysOf(recorded));
}

const ownIds = ({ messageId, relayMessageId }: OutboundRecord): readonly MessageId[] =>
  relayMessageId === null ? [messageId] : [messageId, relayMessageId];

/** The identity keys of its copies. */
const keysOf = (record: OutboundRecord): readonly string[] =>
  ownIds(record).map((messageId) => identityKey({ ...record, messageId, from: [record.from] }));

interface Known {
  /** Of the email itself, of its copies, and of what could be a copy with another Message-ID. */
  readonly ids: ReadonlySet<string>;
  /** One of its Message-IDs is in another thread. */
  readonly isElsewhere: boolean;
}

async function findKnown(
  trx: Transaction<Database>,
  record: OutboundRecord,
  threadId: string,
): Promise<Known> {
  const keys = keysOf(record).map((key) => Buffer.from(key, 'hex'));
  const { accountId } = record;
  const { rows } = await sql<{ ids: string[]; is_elsewhere: boolean }>`
    with lock as materialized (select ${sql.raw(SENDS_LOCK('x.id'))} from (select ${accountId}::text as id) x)
    select
      array(
        select e.id from emails e
        where e.id = ${record.id} or e.account_id = ${accountId} and (
          e.identity_key = any(${keys}) or e.date = ${record.date} and ${sql.raw(SENT_ELSEWHERE)}
        )
      ) as ids,
      exists (
        select from thread_message_ids m
        where m.account_id = ${accountId} and m.message_id = any(${[...ownIds(record)]}) and m.thread_id <> ${threadId}
      ) as is_elsewhere
    from lock`.execute(trx);
  return { ids: new Set(rows[0]?.ids), isElsewhere: rows[0]?.is_elsewhere === true };
}
