/**
 * `InboundStore` on PostgreSQL. The unique index `emails_identity` is what makes one email one record; everything
 * else here only saves work, or tells the caller which record that is.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type {
  InboundRecord,
  InboundResult,
  InboundStore,
  KnownEmail,
  SentCopy,
} from '../../app/inbound-ports.ts';
import { normaliseAddress } from '../../core/customer/rules.ts';
import { isCopyOfSent, type MessageIdentity } from '../../core/message/identity.ts';
import { placeInbound, type InboundLink } from '../../core/thread/place-inbound.ts';
import type { Database } from './database.ts';
import { insertReport } from './delivery-reports.ts';
import { createTurns } from './in-turn.ts';
import { linkBySubject } from './join-by-subject.ts';
import { linkThread } from './link-thread.ts';
import { finishLink, linkOf } from './link-received.ts';
import { inLinkingTransaction, RecordedMeanwhile } from './linking-transaction.ts';
import { guard } from './pool.ts';
import { insertAttachments, toReadColumns } from './received-columns.ts';
import { toView } from './received-values.ts';
import { createCopyMatching } from './rewritten-copies.ts';
import { toMessageId } from './rows.ts';
import { lockThreadOf, settleCustomers } from './settle-customers.ts';
import { counterpartiesOf, insertCopyDeliveries, markAsSent, SENT_ELSEWHERE } from './sent-copies.ts';

/** Sent emails with one Message-ID; more than one is somebody's mistake. */
const MAX_SENDS_OF_ONE_ID = 10;

/** Rolls back what was linked for an email that turned out to be recorded. */
class AlreadyRecorded extends Error {
  readonly known: KnownEmail;

  constructor(known: KnownEmail) {
    super('the email is recorded already');
    this.known = known;
  }
}

export function createInboundStore(db: Kysely<Database>): InboundStore {
  const turn = (id: string, copy: SentCopy) => inLinkingTransaction(db, (trx) => turnIntoSent(trx, id, copy));
  const inTurn = createTurns();
  return {
    findKnown: (accountId, identity, key) => guard(findKnown(db, accountId, identity, key)),

    async recordInbound(record): Promise<InboundResult> {
      try {
        // Emails of one conversation often come together, by an import or from a mailbox: at the same time each would
        // find the other's Message-IDs taken, and begin again.
        const recorded = await inTurn(linkedIdsOf(record), () =>
          inLinkingTransaction(db, (trx, exclusive) => insert(trx, record, exclusive)),
        );
        return { kind: 'recorded', ...recorded };
      } catch (error) {
        if (!(error instanceof AlreadyRecorded)) throw error;
        const { known } = error;
        if (record.isSentCopy) await turn(known.id, record);
        return { kind: 'known', ...known };
      }
    },

    turnIntoSent: turn,

    ...createCopyMatching(db),
  };
}

function linkedIdsOf({ accountId, links }: InboundRecord): readonly string[] {
  return links.map(({ messageId }) => `${accountId} ${messageId}`);
}

export async function findKnown(
  db: Kysely<Database>,
  accountId: string,
  identity: MessageIdentity,
  key: string,
): Promise<KnownEmail | null> {
  const rows = await db
    .selectFrom('emails')
    .select([
      'id',
      'message_id',
      'thread_id',
      'state',
      'direction',
      'date',
      'from_address',
      'subject',
      'identity_key',
    ])
    .where('account_id', '=', accountId)
    .where((where) =>
      where.or([
        where('identity_key', '=', Buffer.from(key, 'hex')),
        where.and([
          where('direction', '=', 'outbound'),
          // Without a key: it was sent by this service.
          where('identity_key', 'is', null),
          where.or([
            where('message_id', '=', identity.messageId),
            where('relay_message_id', '=', identity.messageId),
          ]),
        ]),
      ]),
    )
    .orderBy('id')
    .limit(MAX_SENDS_OF_ONE_ID + 1)
    .execute();
  const row = rows.find(
    ({ identity_key, date, from_address, subject }) =>
      identity_key !== null || isCopyOfSent(identity, { date, from: from_address.address, subject }),
  );
  if (row === undefined) return null;
  return {
    id: row.id,
    messageId: toMessageId(row.message_id),
    threadId: row.thread_id,
    direction: row.direction,
    state: row.state,
  };
}

/** See `InboundStore.turnIntoSent`. */
async function turnIntoSent(trx: Transaction<Database>, id: string, copy: SentCopy): Promise<void> {
  await lockThreadOf(trx, id);
  const threadId = await markAsSent(trx, id, copy);
  // Its counterparties are its recipients now, not its sender.
  if (threadId !== null) await settleCustomers(trx, [threadId]);
}

async function insert(
  trx: Transaction<Database>,
  record: InboundRecord,
  exclusive: boolean,
): Promise<KnownEmail> {
  const { accountId, identity } = record;
  const from = record.from === null ? { name: '', address: '' } : toView(record.from);
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
  // Looked for after linking: whoever records the same email at this moment, or one that it is a copy of, links the same
  // Message-ID before.
  const known = await findKnown(trx, accountId, identity, record.identityKey);
  if (known !== null) throw new AlreadyRecorded(known);
  // Where decisions keep threads apart, not every link leads to the email's thread.
  const placement = placeInbound(
    links,
    new Map([...named.keys()].filter((id) => owners.get(id) === threadId).map((id) => [id, threadId])),
  );
  const newParticipant =
    !record.isSentCopy && (await isNewParticipant(trx, threadId, from.address.toLowerCase()));
  const direction = record.isSentCopy ? 'outbound' : 'inbound';
  const state = record.isSentCopy ? 'sent' : 'received';
  const counterparties = record.isSentCopy ? counterpartiesOf(record) : [normaliseAddress(from.address)];
  const link = await linkOf(trx, threadId, counterparties, newParticipant);
  const inserted = await trx
    .insertInto('emails')
    .values({
      id: record.id,
      account_id: accountId,
      thread_id: threadId,
      direction,
      ...toReadColumns(record),
      relay_message_id: null,
      date: record.date,
      customer_id: link.customer_id,
      customer_source: link.customer_source,
      company_id: link.company_id,
      company_source: link.company_source,
      state,
      state_detail: record.isSentCopy ? SENT_ELSEWHERE : null,
      placement_rule: placement.rule,
      placement_message_id: placement.matchedMessageId,
      subject_key: record.bySubject?.key ?? null,
      raw_size_bytes: String(record.rawSizeBytes),
      raw: record.raw,
      raw_path: record.rawPath,
      identity_key: Buffer.from(record.identityKey, 'hex'),
      new_participant: newParticipant,
      exchange_with: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'identity_key']).where('identity_key', 'is not', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw new RecordedMeanwhile();
  if (record.isRead && !record.isSentCopy) await markAsRead(trx, record.id, threadId);
  await insertAttachments(trx, record.id, record.attachments);
  if (record.isSentCopy) await insertCopyDeliveries(trx, record.id, record);
  else if (record.report !== null) await insertReport(trx, record.id, accountId, record.report);
  await finishLink(trx, { id: record.id, threadId }, link);
  return { id: record.id, messageId: identity.messageId, threadId, direction, state };
}

/**
 * A received email that this transaction has just inserted. The row of its thread is ours since then (migration 0009), so
 * it need not be counted anew.
 */
async function markAsRead(trx: Transaction<Database>, id: string, threadId: string): Promise<void> {
  await sql`
    with marked as (delete from unread_emails where email_id = ${id} returning email_id)
    update thread_summaries set unread_count = unread_count - 1
    where thread_id = ${threadId} and exists (select from marked)`.execute(trx);
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

/** The thread has emails, and the address stands in none of them. */
async function isNewParticipant(
  trx: Transaction<Database>,
  threadId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await sql<{ is_new: boolean }>`
    select count(*) > 0 and not coalesce(bool_or(
      lower(e.from_address ->> 'address') = ${address} or exists (
        select from jsonb_array_elements(e.to_addresses || e.cc_addresses || e.bcc_addresses) a
        where lower(a ->> 'address') = ${address}
      )
    ), false) as is_new
    from emails e where e.thread_id = ${threadId}`.execute(trx);
  return rows[0]?.is_new === true;
}
