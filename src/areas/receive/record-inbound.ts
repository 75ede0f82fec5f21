/**
 * `InboundStore` on PostgreSQL. The unique index `emails_identity` makes one email one record; everything else here only saves work, or
 * finds that record for the caller.
 *
 * Emails that arrive while others are being written are written together next (record-together.ts). Emails that need more take a
 * transaction of their own (record-alone.ts), which is rare.
 */
import type { Pool } from 'pg';
import type { InboundRecord, InboundResult, InboundStore, SentCopy } from './inbound-ports.ts';
import { allDeletionsOf, findRecorded, type KnownEmail, type SoughtEmail } from '../emails/find-recorded.ts';
import { Limit } from '../../platform/base/limit.ts';
import { type ContentReplacements, createReplacements } from './replace-content-rows.ts';
import { linkedKeysOf } from '../../core/thread/place-together.ts';
import { createBatches } from '../../platform/db/batches.ts';
import type { Executor } from '../../platform/db/statement.ts';
import { forgetDeletion } from '../emails/deleted-emails.ts';
import { TEXT_PIECE_CHARS } from '../emails/long-texts.ts';
import { createKeyedTurns } from '../../platform/db/keyed-turns.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { SubjectKeptApart } from './join-by-subject.ts';
import { AlreadyRecorded, insertAlone } from './record-alone.ts';
import { recordTogether } from './record-together.ts';
import { createCopyMatching } from '../send/rewritten-copies.ts';
import { relinkCustomers } from '../customers/relink-customers.ts';
import { lockThreadOf } from '../emails/thread-rows.ts';
import { markAsSent } from './sent-copies.ts';

/** Bytes of texts and raw messages in one transaction. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** Larger emails take a transaction of their own, in which no other email waits, and their texts go in pieces. */
const MAX_SHARED_BYTES = TEXT_PIECE_CHARS;
const MAX_BATCH = 128;
/** Roughly the size of an address, a Message-ID or a file. */
const ENTRY_BYTES = 200;
/** Transactions of single emails at the same moment: each takes a connection, which sends need too. */
const MAX_ALONE = 4;

export function createInboundStore(pool: Pool): InboundStore & ContentReplacements {
  // Emails of one conversation often come together, by an import or from a mailbox: recorded at the same time, each would find the other's
  // Message-IDs taken, and begin again.
  const turns = createKeyedTurns();
  const limit = new Limit({ size: MAX_ALONE });

  const recordAlone = async (record: InboundRecord): Promise<InboundResult> => {
    try {
      const recorded = await turns.run(linkedKeysOf(record), () =>
        limit.run(() => insertInTransaction(pool, record)),
      );
      return { kind: 'recorded', ...recorded };
    } catch (error) {
      if (!(error instanceof AlreadyRecorded)) throw error;
      return { kind: 'known', ...error.known };
    }
  };

  const record = createBatches<InboundRecord, InboundResult>(
    { name: 'record-inbound', items: MAX_BATCH, bytes: MAX_BATCH_BYTES, failTogether: true },
    bytesOf,
    async (records) => {
      const recorded = await recordTogether(pool, records, turns);
      return records.map((one) => recorded.get(one.id) ?? recordAlone(one));
    },
  );

  const find = createBatches<SoughtEmail, KnownEmail | null>(
    { name: 'find-recorded', items: MAX_BATCH, bytes: Infinity, failTogether: true },
    () => 0,
    (sought) => findRecorded(pool, sought),
  );

  return {
    findKnown: find,
    async recordInbound(email) {
      const isAlone = email.bySubject !== null || bytesOf(email) > MAX_SHARED_BYTES;
      const result = await (isAlone ? recordAlone(email) : record(email));
      // It was committed on a try whose answer was lost: no other email has its identifier.
      return result.id === email.id ? { ...result, kind: 'recorded' } : result;
    },
    forgetDeletion: (email) => forgetDeletion(pool, email.accountId, allDeletionsOf(email)),
    turnIntoSent: (id, copy) => inLinkingTransaction(pool, (trx) => turnIntoSent(trx, id, copy)),
    ...createReplacements(pool),
    ...createCopyMatching(pool),
  };
}

/** Throws AlreadyRecorded. */
function insertInTransaction(pool: Pool, record: InboundRecord): Promise<KnownEmail> {
  const apart = new Set<string>();
  return inLinkingTransaction(pool, async (trx, exclusive) => {
    try {
      return await insertAlone(trx, record, exclusive, apart);
    } catch (error) {
      if (error instanceof SubjectKeptApart) for (const id of error.replies) apart.add(id);
      throw error;
    }
  });
}

/** The approximate size of the record in a statement. */
function bytesOf(record: InboundRecord): number {
  const { raw, textBody, htmlBody, replyText, to, cc, bcc, links, references, attachments } = record;
  const texts = (raw?.length ?? 0) + textBody.length + (htmlBody?.length ?? 0) + replyText.length;
  const entries = to.length + cc.length + bcc.length + links.length + references.length + attachments.length;
  return texts + entries * ENTRY_BYTES;
}

/** See `InboundStore.turnIntoSent`. */
async function turnIntoSent(executor: Executor, id: string, copy: SentCopy): Promise<void> {
  await lockThreadOf(executor, id);
  const threadId = await markAsSent(executor, id, copy);
  // The counterparties of the email are its recipients now, not its sender.
  if (threadId !== null) await relinkCustomers(executor, [threadId]);
}
