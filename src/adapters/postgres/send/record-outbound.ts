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
import type { OutboundRecord, RecordedSend } from '../../../app/send/outbound-ports.ts';
import type { EmailState } from '../../../core/delivery/states.ts';
import { identityKey } from '../../../core/message/identity.ts';
import type { MessageId } from '../../../core/message/message-id.ts';
import { linksOf } from '../../../core/thread/place-inbound.ts';
import { absorbCopies } from './absorb-copies.ts';
import { createBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { insertEmail, insertEmails, SENDS_LOCK, SENT_ELSEWHERE } from './insert-emails.ts';
import { linkThread, type NamedCustomer } from '../threads/link-thread.ts';
import { inLinkingTransaction, LinkConflict, RecordedMeanwhile } from '../db/linking-transaction.ts';
import { guard } from '../db/pool.ts';
import { findRewrittenCopy } from './rewritten-copies.ts';

/** Emails in one statement at most. */
const MAX_BATCH = 64;
/** Bytes of raw messages in one statement at most. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Returns the function that records one email; see `OutboundStore.recordOutbound`. */
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
  const { rule } = record.placement;
  const anchorId = await findAnchor(trx, record);
  const named = linksOf({ ...record, bounced: null, bySubject: null }).map(({ messageId }) => messageId);
  const own = { id, messageIds: ownIds(record), links: [], date: record.date, anchorId };
  const customer: NamedCustomer | null =
    record.customerId === null ? null : { id: record.customerId, joinsParty: rule !== 'new' };
  const mayMerge = rule !== 'thread_id';
  const request = { accountId, customer, exclusive };
  const linked = await linkThread(trx, {
    ...request,
    threadId: record.threadId,
    email: { ...own, links: named },
    mayMerge,
  });
  let { threadId, partyId } = linked;
  const ignoredIds = mayMerge ? [] : named.filter((name) => linked.owners.get(name) !== threadId);
  // Searched after linking: a request that records a copy at this moment links the same Message-ID first.
  const known = await findKnown(trx, record, threadId);
  if (known.ids.has(id)) throw new AlreadyRecorded();
  let recorded = record;
  if (known.ids.size > 0 && relayMessageId === null && MAY_COME_BACK.has(record.state)) {
    const rewritten = await findRewrittenCopy(trx, record);
    if (rewritten !== null) recorded = { ...record, relayMessageId: rewritten };
  }
  // Whatever thread was chosen by hand, an answer or a copy that came first belongs to it.
  if (recorded !== record || (!mayMerge && (known.isElsewhere || linked.isNamed))) {
    const links = named.filter((name) => !ignoredIds.includes(name));
    const email = { ...own, messageIds: ownIds(recorded), links };
    ({ threadId, partyId } = await linkThread(trx, { ...request, threadId, email, mayMerge: true }));
  }
  if (anchorId !== null && !exclusive && !(await isInThread(trx, anchorId, threadId)))
    throw new LinkConflict();
  const link = { anchorId, ignoredIds, partyId };
  if (!(await insertEmail(trx, { ...recorded, threadId }, link))) throw new RecordedMeanwhile();
  if (known.ids.size === 0) return NEVER_CAME_BACK;
  return absorbCopies(trx, accountId, id, keysOf(recorded));
}

/**
 * The email beside which the caller put it: the first of the thread that it named, or the one that it answers. null where
 * nothing was there yet. Only exclusive transactions move it elsewhere.
 */
async function findAnchor(
  trx: Transaction<Database>,
  { accountId, threadId, placement }: OutboundRecord,
): Promise<string | null> {
  if (placement.rule === 'new') return null;
  const answered = placement.rule === 'thread_id' ? null : placement.matchedMessageId;
  const { rows } = await sql<{ id: string }>`
    select e.id from emails e
    where e.thread_id = coalesce((select thread_id from thread_aliases where id = ${threadId}), ${threadId})
      and (${answered}::text is null
        or e.account_id = ${accountId} and (e.message_id = ${answered} or e.relay_message_id = ${answered}))
    order by e.id limit 1`.execute(trx);
  return rows[0]?.id ?? null;
}

async function isInThread(trx: Transaction<Database>, emailId: string, threadId: string): Promise<boolean> {
  const found = await trx
    .selectFrom('emails')
    .select('id')
    .where('id', '=', emailId)
    .where('thread_id', '=', threadId)
    .executeTakeFirst();
  return found !== undefined;
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
