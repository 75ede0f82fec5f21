/**
 * Records outbound emails, many of them in one commit.
 *
 * An email that starts a conversation touches nothing that another one could touch at the same moment, so such emails are collected while a
 * commit is under way and written together by one statement. An email that joins or answers another takes a transaction of its own, which
 * links Message-IDs and may merge threads; so does an email of which an answer or a copy was recorded first.
 */
import type { Pool } from 'pg';
import type { OutboundRecord, OutboundStore, RecordedSend } from './outbound-ports.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { settleUndelivered } from '../threads/thread-work.ts';
import { refuseMovedOn } from '../../core/thread/refuse-moved-on.ts';
import { identityKey } from '../../core/message/identity.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { linksOf } from '../../core/thread/place-inbound.ts';
import { findCopies, type Copy } from './absorb-copies.ts';
import { createBatches } from '../../platform/db/batches.ts';
import { threadIdOf } from '../emails/thread-rows.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import {
  insertLinkedSend,
  insertNewSends,
  meetingKeysOfSend,
  SENDS_LOCK,
  SENT_ELSEWHERE,
  type StoredLink,
} from './insert-emails.ts';
import { linkThread, lockLinks, type Linked, type NamedCustomer } from '../threads/link-thread.ts';
import {
  inLinkingTransaction,
  LinkConflict,
  RecordedMeanwhile,
} from '../../platform/db/linking-transaction.ts';
import { readNewer } from './newer-emails.ts';
import { CameBackFirst, placeAmongCopies } from './place-among-copies.ts';
import { findRewrittenCopy } from './rewritten-copies.ts';

/** Most emails in one statement. */
const MAX_BATCH = 64;
/** Most bytes of raw messages in one statement. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Returns the function that records one email; see `OutboundStore.recordOutbound`. */
export function createOutboundRecorder(pool: Pool): OutboundStore['recordOutbound'] {
  const recordNew = createBatches<OutboundRecord, RecordedSend>(
    { name: 'record-send', items: MAX_BATCH, bytes: MAX_BATCH_BYTES, failTogether: false },
    ({ rawSizeBytes }) => rawSizeBytes,
    async (records) => {
      const known = await insertNewSends(pool, records);
      return records.map((record) => (known.has(record.id) ? recordLinked(pool, record) : NEVER_CAME_BACK));
    },
  );
  return (record, ifNewest = null) =>
    record.placement.rule !== 'new' || record.inReplyTo.length > 0
      ? recordLinked(pool, record, ifNewest)
      : recordNew(record);
}

/** An email that was not handed over yet, or was refused, has no copy. */
const MAY_COME_BACK: ReadonlySet<EmailState> = new Set<EmailState>(['sent', 'deferred', 'unknown']);

const NEVER_CAME_BACK: RecordedSend = { cameBack: false, orphans: [] };

/** Rolls back the links made for an email that is already recorded. */
class AlreadyRecorded extends Error {}

async function recordLinked(
  pool: Pool,
  record: OutboundRecord,
  ifNewest: string | null = null,
): Promise<RecordedSend> {
  /** Known from a try that began again. */
  let cameBackFirst = false;
  try {
    return await inLinkingTransaction(pool, async (trx, exclusive) => {
      try {
        return cameBackFirst
          ? await linkAmongCopies(trx, record, ifNewest)
          : await link(trx, record, exclusive, ifNewest);
      } catch (error) {
        cameBackFirst ||= error instanceof CameBackFirst;
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof AlreadyRecorded) return NEVER_CAME_BACK;
    throw error;
  }
}

async function link(
  executor: Executor,
  record: OutboundRecord,
  exclusive: boolean,
  ifNewest: string | null,
): Promise<RecordedSend> {
  const mayMerge = record.placement.rule !== 'thread_id';
  const anchorId = await findAnchor(executor, record);
  const request = requestOf(record, anchorId);
  const linked = await linkThread(executor, { ...request, exclusive, mayMerge });
  let { threadId, partyId } = linked;
  const ignoredIds = ignoredBy(record, request.email.links, linked);
  // Searched after linking: a request that records a copy at this moment links the same Message-ID first.
  const known = await findKnown(executor, record, threadId);
  if (known.ids.has(record.id)) throw new AlreadyRecorded();
  if (known.ids.size > 0 && (await findCopiesOf(executor, record)) !== null) throw new CameBackFirst();
  // Even if the caller chose a thread, an answer that came first belongs to it.
  if (!mayMerge && (known.isElsewhere || linked.isNamed)) {
    const links = request.email.links.filter((name) => !ignoredIds.includes(name));
    const email = { ...request.email, links };
    ({ threadId, partyId } = await linkThread(executor, {
      ...request,
      threadId,
      email,
      exclusive,
      mayMerge: true,
    }));
  }
  if (anchorId !== null && !exclusive && !(await isInThread(executor, anchorId, threadId)))
    throw new LinkConflict();
  await write(executor, record, { threadId, anchorId, ignoredIds, partyId }, ifNewest);
  return NEVER_CAME_BACK;
}

/** The second try to record an email of which copies were recorded first. */
async function linkAmongCopies(
  executor: Executor,
  record: OutboundRecord,
  ifNewest: string | null,
): Promise<RecordedSend> {
  await lockLinks(executor, record.accountId);
  const found = await findCopiesOf(executor, record);
  // They were deleted meanwhile.
  if (found === null) return await link(executor, record, true, ifNewest);
  const { copies, recorded } = found;
  const anchorId = await findAnchor(executor, record, copies);
  const request = requestOf(recorded, anchorId);
  return await placeAmongCopies(executor, request, copies, async (linked) => {
    const { threadId, partyId } = linked;
    const known = await findKnown(executor, recorded, threadId);
    if (known.ids.has(record.id)) throw new AlreadyRecorded();
    const ignoredIds = ignoredBy(record, request.email.links, linked);
    await write(executor, recorded, { threadId, anchorId, ignoredIds, partyId }, ifNewest);
  });
}

function requestOf(record: OutboundRecord, anchorId: string | null) {
  const { id, accountId, threadId, date, customerId, isByPerson } = record;
  const isNew = record.placement.rule === 'new';
  return {
    accountId,
    threadId,
    // What a program begins waits for no person.
    status: isNew && isByPerson !== true ? ('done' as const) : ('open' as const),
    customer: customerId === null ? null : ({ id: customerId, joinsParty: !isNew } satisfies NamedCustomer),
    email: {
      id,
      messageIds: ownIds(record),
      links: linksOf({ ...record, bounced: null, bySubject: null }).map(({ messageId }) => messageId),
      meetingKeys: meetingKeysOfSend(record),
      isSend: true,
      date,
      anchorId,
    },
  };
}

/** Of an email that its caller put into a thread: what leads elsewhere. */
const ignoredBy = (
  { placement }: OutboundRecord,
  names: readonly MessageId[],
  { threadId, owners }: Linked,
): readonly MessageId[] =>
  placement.rule === 'thread_id' ? names.filter((name) => owners.get(name) !== threadId) : [];

async function write(
  executor: Executor,
  record: OutboundRecord,
  { threadId, ...link }: StoredLink & { readonly threadId: string },
  ifNewest: string | null,
): Promise<void> {
  // The thread is locked: what is recorded in it from now on comes after this email.
  if (ifNewest !== null) refuseMovedOn(await readNewer(executor, threadId, ifNewest));
  if (!(await insertLinkedSend(executor, { ...record, threadId }, link))) throw new RecordedMeanwhile();
  // Only the page sends so: what was not delivered is corrected and sent again.
  if (record.isByPerson === true && record.placement.rule === 'thread_id' && !HAS_FAILED.has(record.state))
    await settleUndelivered(executor, threadId);
}

/** The copies that were recorded first, and the record with the Message-ID that its relay gave to one of them. null for none. */
async function findCopiesOf(
  executor: Executor,
  record: OutboundRecord,
): Promise<{ readonly copies: readonly Copy[]; readonly recorded: OutboundRecord } | null> {
  const { id, accountId } = record;
  const mayHaveAnother = record.relayMessageId === null && MAY_COME_BACK.has(record.state);
  const rewritten = mayHaveAnother ? await findRewrittenCopy(executor, record) : null;
  const recorded = rewritten === null ? record : { ...record, relayMessageId: rewritten };
  const copies = await findCopies(executor, accountId, id, keysOf(recorded));
  return copies.length === 0 && rewritten === null ? null : { copies, recorded };
}

const HAS_FAILED: ReadonlySet<string> = new Set<EmailState>(['failed', 'unknown']);

/**
 * The email beside which the caller put this one: the first of the thread that it named, or the one that it answers. null if no email was
 * there yet. Only exclusive transactions move it elsewhere.
 *
 * @param copies of the email itself
 */
async function findAnchor(
  executor: Executor,
  { accountId, threadId, placement }: OutboundRecord,
  copies: readonly Copy[] = [],
): Promise<string | null> {
  if (placement.rule === 'new') return null;
  const answered = placement.rule === 'thread_id' ? null : placement.matchedMessageId;
  const [anchor] = await run(executor, FIND_ANCHOR, {
    accountId,
    threadId,
    answered,
    copies: copies.map(({ id }) => id),
  });
  return anchor?.id ?? null;
}

const FIND_ANCHOR = statement(
  'find-anchor',
  `select e.id from emails e
  where e.thread_id = ${threadIdOf('$threadId::uuid')} and e.id <> all ($copies::uuid[])
    and ($answered::text is null
      or e.account_id = $accountId and (e.message_id = $answered or e.relay_message_id = $answered))
  order by e.id limit 1`,
);

async function isInThread(executor: Executor, emailId: string, threadId: string): Promise<boolean> {
  return (await run(executor, IS_IN_THREAD, { emailId, threadId })).length > 0;
}

const IS_IN_THREAD = statement(
  'is-in-thread',
  'select from emails where id = $emailId and thread_id = $threadId',
);

const ownIds = ({ messageId, relayMessageId }: OutboundRecord): readonly MessageId[] =>
  relayMessageId === null ? [messageId] : [messageId, relayMessageId];

/** The identity keys of the email's copies. */
const keysOf = (record: OutboundRecord): readonly string[] =>
  ownIds(record).map((messageId) =>
    identityKey({ ...record, messageId, from: [record.from], undated: null }),
  );

interface Known {
  /** Ids of the email itself, of its copies, and of emails that could be a copy with another Message-ID. */
  readonly ids: ReadonlySet<string>;
  /** One of the email's Message-IDs is in another thread. */
  readonly isElsewhere: boolean;
}

async function findKnown(executor: Executor, record: OutboundRecord, threadId: string): Promise<Known> {
  const { id, accountId, date } = record;
  const keys = keysOf(record).map((key) => Buffer.from(key, 'hex'));
  const [row] = await run(executor, FIND_KNOWN, {
    id,
    accountId,
    date,
    keys,
    ownIds: ownIds(record),
    threadId,
  });
  return { ids: new Set(row?.ids), isElsewhere: row?.is_elsewhere === true };
}

const FIND_KNOWN = statement(
  'find-known-of-send',
  `with lock as materialized (select ${SENDS_LOCK('x.id')} from (select $accountId::text as id) x)
  select
    array(
      select d.id from deleted_emails d where d.id = $id
      union all
      select e.id from emails e
      where e.id = $id or e.account_id = $accountId and (
        e.identity_key = any($keys::bytea[]) or e.date = $date and ${SENT_ELSEWHERE}
      )
    ) as ids,
    exists (
      select from thread_message_ids m
      where m.account_id = $accountId and m.message_id = any($ownIds::text[]) and m.thread_id <> $threadId
    ) as is_elsewhere
  from lock`,
).narrow<{ ids: string[] }>();
