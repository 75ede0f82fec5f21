/**
 * `InboundStore` on PostgreSQL. The unique index `emails_identity` is what makes one email one record; everything
 * else here only saves work, or tells the caller which record that is.
 *
 * Emails that come while others are being written are written together next, in one transaction. Those whose links lead
 * to several threads, that are recorded already, or that look for conversations by their subject take a transaction of
 * their own, as nearly none do.
 */
import type { Kysely, Transaction } from 'kysely';
import type { Pool } from 'pg';
import type {
  InboundRecord,
  InboundResult,
  InboundStore,
  KnownEmail,
  SentCopy,
} from '../../app/inbound-ports.ts';
import { placeInbound, type InboundLink } from '../../core/thread/place-inbound.ts';
import { ownerKey } from '../../core/thread/place-together.ts';
import { createBatches } from './batches.ts';
import type { Database } from './database.ts';
import {
  findRecorded,
  recordedQuery,
  toKnownEmails,
  type RecordedRow,
  type Sought,
} from './find-recorded.ts';
import { createLimit, createTurns } from './in-turn.ts';
import { directionOf, insertReceived, stateOf } from './insert-received.ts';
import { linkBySubject } from './join-by-subject.ts';
import { linksQuery, readLinks, toReceivedLinks, type LinkRow } from './link-received.ts';
import { linkThread } from './link-thread.ts';
import { inLinkingTransaction } from './linking-transaction.ts';
import { createNamedQuery } from './named-query.ts';
import {
  namedIdsOf,
  ownersQuery,
  placeReceived,
  requireFit,
  requirePlaced,
  toOwners,
  Unfit,
  type OwnerRow,
} from './place-received.ts';
import { readTogether } from './read-together.ts';
import { createCopyMatching } from './rewritten-copies.ts';
import { lockThreadOf, settleCustomers } from './settle-customers.ts';
import { markAsSent } from './sent-copies.ts';

/** Bytes of texts and raw messages in one transaction. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Larger emails take a transaction of their own, in which nobody else waits. */
const MAX_SHARED_BYTES = 1024 * 1024;
const MAX_BATCH = 128;
/** Transactions of single emails at the same moment: each takes a connection, which sends need too. */
const MAX_ALONE = 4;

/** Rolls back what was linked for an email that turned out to be recorded. */
class AlreadyRecorded extends Error {
  readonly known: KnownEmail;

  constructor(known: KnownEmail) {
    super('the email is recorded already');
    this.known = known;
  }
}

export function createInboundStore(pool: Pool, db: Kysely<Database>): InboundStore {
  const query = createNamedQuery(pool);
  const turn = (id: string, copy: SentCopy) => inLinkingTransaction(db, (trx) => turnIntoSent(trx, id, copy));
  // Emails of one conversation often come together, by an import or from a mailbox: at the same time each would
  // find the other's Message-IDs taken, and begin again.
  const inTurn = createTurns();
  const alone = createLimit(MAX_ALONE);

  const recordAlone = async (record: InboundRecord): Promise<InboundResult> => {
    try {
      const recorded = await inTurn(linkedIdsOf(record), () =>
        alone(() => inLinkingTransaction(db, (trx, exclusive) => insertAlone(trx, record, exclusive))),
      );
      return { kind: 'recorded', ...recorded };
    } catch (error) {
      if (!(error instanceof AlreadyRecorded)) throw error;
      const { known } = error;
      if (record.isSentCopy) await turn(known.id, record);
      return { kind: 'known', ...known };
    }
  };

  const recordTogether = createBatches<InboundRecord, InboundResult>(
    { items: MAX_BATCH, bytes: MAX_BATCH_BYTES },
    bytesOf,
    async (records) => {
      const recorded = await insertFitting(db, records, inTurn);
      return records.map((record) => recorded.get(record.id) ?? recordAlone(record));
    },
  );

  const find = createBatches<Sought, KnownEmail | null>(
    { items: MAX_BATCH, bytes: Infinity },
    () => 0,
    async (sought) => {
      // Named: it is planned once, not for each of the many times that only a few are asked for.
      const { sql: text, parameters } = recordedQuery(sought).compile(db);
      return toKnownEmails(sought, await query<RecordedRow>('find-recorded', text, [...parameters]));
    },
  );

  return {
    findKnown: (accountId, identity, key) => find({ accountId, identity, key }),
    recordInbound: (record) =>
      record.bySubject !== null || bytesOf(record) > MAX_SHARED_BYTES
        ? recordAlone(record)
        : recordTogether(record),
    turnIntoSent: turn,
    ...createCopyMatching(db),
  };
}

function bytesOf({ raw, textBody, htmlBody, replyText }: InboundRecord): number {
  return (raw?.length ?? 0) + textBody.length + (htmlBody?.length ?? 0) + replyText.length;
}

function linkedIdsOf({ accountId, links }: InboundRecord): readonly string[] {
  return links.map(({ messageId }) => ownerKey(accountId, messageId));
}

/** See `InboundStore.turnIntoSent`. */
async function turnIntoSent(trx: Transaction<Database>, id: string, copy: SentCopy): Promise<void> {
  await lockThreadOf(trx, id);
  const threadId = await markAsSent(trx, id, copy);
  // Its counterparties are its recipients now, not its sender.
  if (threadId !== null) await settleCustomers(trx, [threadId]);
}

/** Results by the ids of the records; those that are missing are to be recorded alone. */
async function insertFitting(
  db: Kysely<Database>,
  records: readonly InboundRecord[],
  inTurn: ReturnType<typeof createTurns>,
): Promise<ReadonlyMap<string, InboundResult>> {
  // The order in which they count as recorded, also for who works out later whose they are.
  let left = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  while (left.length > 0) {
    const batch = left;
    try {
      return await inTurn(batch.flatMap(linkedIdsOf), () =>
        inLinkingTransaction(db, (trx) => insertTogether(trx, batch)),
      );
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      left = batch.filter((record) => !error.records.has(record));
    }
  }
  return new Map();
}

/** Throws Unfit. */
async function insertTogether(
  trx: Transaction<Database>,
  records: readonly InboundRecord[],
): Promise<ReadonlyMap<string, InboundResult>> {
  const keys = new Set<string>();
  // The same email twice: the second one finds the first.
  requireFit(records, ({ accountId, identityKey }) => {
    const key = `${accountId} ${identityKey}`;
    const isFirst = !keys.has(key);
    keys.add(key);
    return isFirst;
  });
  const results = new Map<string, InboundResult>();
  const all = namedIdsOf(records);
  const before = await readTogether<{ owners: OwnerRow; known: RecordedRow }>(trx, {
    owners: ownersQuery(all),
    known: recordedQuery(records.map(toSought)),
  });
  const knownBefore = toKnownEmails(records.map(toSought), before.known);
  const fresh = records.filter((record, index) => {
    const known = knownBefore[index] ?? null;
    // A Sent copy may change what is known: it is recorded alone.
    if (known !== null && !record.isSentCopy) results.set(record.id, { kind: 'known', ...known });
    return known === null;
  });
  if (fresh.length === 0) return results;

  const placed = await placeReceived(trx, fresh, toOwners(all, before.owners));
  const emails = fresh.flatMap((record, index) => {
    const place = placed.places[index];
    return place === undefined ? [] : [{ record, ...place }];
  });
  const sought = fresh.map(toSought);
  // Looked for after linking: whoever records the same email at this moment, or one that it is a copy of, links the same
  // Message-ID before.
  const after = await readTogether<{ owners: OwnerRow; known: RecordedRow; links: LinkRow }>(trx, {
    owners: ownersQuery(placed.named),
    known: recordedQuery(sought),
    links: linksQuery(emails),
  });
  requirePlaced(fresh, placed, after.owners);
  const known = toKnownEmails(sought, after.known);
  requireFit(fresh, (_, index) => known[index] === null);
  await insertReceived(trx, emails, toReceivedLinks(emails, after.links));
  for (const { record, threadId } of emails) {
    results.set(record.id, { kind: 'recorded', ...toKnown(record, threadId) });
  }
  return results;
}

function toSought({ accountId, identity, identityKey }: InboundRecord): Sought {
  return { accountId, identity, key: identityKey };
}

function toKnown(record: InboundRecord, threadId: string): KnownEmail {
  return {
    id: record.id,
    messageId: record.identity.messageId,
    threadId,
    direction: directionOf(record),
    state: stateOf(record),
  };
}

async function insertAlone(
  trx: Transaction<Database>,
  record: InboundRecord,
  exclusive: boolean,
): Promise<KnownEmail> {
  const { accountId, identity } = record;
  const { answered, waiting } = await linkBySubject(trx, record);
  const links: readonly InboundLink[] =
    answered === null ? record.links : [{ rule: 'subject', messageId: answered }, ...record.links];
  const named = await knownOwners(trx, accountId, links);
  const { threadId, owners } = await linkThread(trx, {
    accountId,
    threadId: placeInbound(links, named).threadId ?? record.newThreadId,
    email: {
      id: record.id,
      messageIds: [identity.messageId],
      links: links.filter(({ rule }) => rule !== 'message_id').map(({ messageId }) => messageId),
      date: record.date,
    },
    answeredBy: waiting,
    mayMerge: true,
    exclusive,
  });
  // After linking, as for many.
  const [known = null] = await findRecorded(trx, [toSought(record)]);
  if (known !== null) throw new AlreadyRecorded(known);
  // Where decisions keep threads apart, not every link leads to the email's thread.
  const placement = placeInbound(
    links,
    new Map([...named.keys()].filter((id) => owners.get(id) === threadId).map((id) => [id, threadId])),
  );
  const email = { record, threadId, placement };
  await insertReceived(trx, [email], await readLinks(trx, [email]));
  return toKnown(record, threadId);
}

/** The threads of the Message-IDs that are known. */
async function knownOwners(
  trx: Transaction<Database>,
  accountId: string,
  links: readonly InboundLink[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await trx
    .selectFrom('thread_message_ids')
    .select(['message_id', 'thread_id'])
    .where('account_id', '=', accountId)
    .where('message_id', 'in', [...new Set(links.map(({ messageId }) => messageId))])
    .execute();
  return new Map(rows.map((row) => [row.message_id, row.thread_id]));
}
