/**
 * Message-IDs that a relay gave to sent emails in place of ours, learned from its reply or from a copy. Answers and copies with such a
 * Message-ID may have come first: their threads are merged with the email's, and the copies are merged into the email.
 */
import type { Pool } from 'pg';
import type { RecordedSend } from './outbound-ports.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { sentIdentityKey } from '../../core/message/identity.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { findCopies } from './absorb-copies.ts';
import { CameBackFirst, placeAmongCopies } from './place-among-copies.ts';
import { linkThread, lockLinks } from '../threads/link-thread.ts';
import { tieMessageIds } from '../threads/message-ids.ts';
import { LOCK_THREADS } from '../emails/thread-rows.ts';
import { inLinkingTransaction } from '../../platform/db/linking-transaction.ts';
import { isRetryable } from '../../platform/db/pool.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { toMessageId } from '../emails/message-id-column.ts';

export interface RelayMessageId {
  readonly emailId: string;
  readonly messageId: MessageId;
}

export interface TiedEmail {
  readonly messageId: MessageId;
  readonly threadId: string;
  readonly state: EmailState;
  /** False: the email already has another Message-ID from a relay, and that one is still shown. */
  readonly isTaken: boolean;
  /** Records that claimed to be copies of the email were merged into it; see compareCopies. */
  readonly hasAbsorbed: boolean;
  /** Paths of the files of its copies, which nothing refers to any more. */
  readonly orphans: readonly string[];
}

/** For `inLinkingTransaction`. A repeat changes nothing. */
export async function tieRelayMessageId(
  executor: Executor,
  { emailId, messageId }: RelayMessageId,
  exclusive: boolean,
): Promise<TiedEmail> {
  if (exclusive) await lockLinksOf(executor, emailId);
  const email = await readTied(executor, emailId);
  const request = {
    accountId: email.account_id,
    threadId: email.thread_id,
    email: {
      id: emailId,
      messageIds: [email.message_id, messageId],
      links: [],
      meetingKeys: [],
      isSend: true,
      date: email.date,
      anchorId: null,
    },
    customer: null,
  };
  const key = sentIdentityKey(messageId, { ...email, from: email.from_address.address });
  const copies = () => findCopies(executor, email.account_id, emailId, [key]);
  const take = async () => (await run(executor, TAKE, { emailId, messageId })).length > 0;
  const before = exclusive ? await copies() : [];
  let isTaken = false;
  let merged: RecordedSend = { cameBack: false, orphans: [] };
  if (before.length > 0) {
    merged = await placeAmongCopies(executor, request, before, async () => {
      isTaken = await take();
    });
  } else {
    // Answers to the relay's Message-ID may be in another thread by now.
    await linkThread(executor, { ...request, mayMerge: true, exclusive });
    isTaken = await take();
    // Searched after linking: a request that records a copy at this moment links the same Message-ID first.
    if ((await copies()).length > 0) throw new CameBackFirst();
  }
  const now = await readTied(executor, emailId);
  return {
    messageId: toMessageId(email.message_id),
    threadId: now.thread_id,
    state: now.state,
    isTaken,
    hasAbsorbed: merged.cameBack,
    orphans: merged.orphans,
  };
}

async function readTied(executor: Executor, emailId: string): Promise<RowOf<typeof READ_TIED>> {
  const [email] = await run(executor, READ_TIED, { emailId });
  if (email === undefined) throw new Error('an email whose relay told its Message-ID is gone');
  return email;
}

/** Its thread may change until the lock is taken; its account never does. */
async function lockLinksOf(executor: Executor, emailId: string): Promise<void> {
  await lockLinks(executor, (await readTied(executor, emailId)).account_id);
}

/** Stores the Message-ID of a relay's reply. */
export async function saveRelayMessageId(pool: Pool, relay: RelayMessageId): Promise<RecordedSend> {
  if (await tieFresh(pool, relay)) return { cameBack: false, orphans: [] };
  const { hasAbsorbed, orphans } = await inLinkingTransaction(pool, (trx, exclusive) =>
    tieRelayMessageId(trx, relay, exclusive),
  );
  return { cameBack: hasAbsorbed, orphans };
}

const READ_TIED = statement(
  'read-tied-email',
  'select account_id, message_id, thread_id, state, date, from_address, subject from emails where id = $emailId',
);

const TAKE = statement(
  'take-relay-message-id',
  `update emails set relay_message_id = $messageId
  where id = $emailId and (relay_message_id is null or relay_message_id = $messageId)
  returning id`,
);

/** The Message-ID is nearly always unknown before: then one statement is enough. */
async function tieFresh(pool: Pool, { emailId, messageId }: RelayMessageId): Promise<boolean> {
  try {
    return (await run(pool, TIE_FRESH, { emailId, messageId })).length === 1;
  } catch (error) {
    if (isRetryable(error)) return false;
    throw error;
  }
}

/**
 * The thread is locked first, as in linkThread; an email that is moved to another one meanwhile is not found. Recording a copy or an answer
 * links the same Message-ID, so that one of the two waits.
 */
const TIE_FRESH = statement(
  'tie-relay-message-id',
  `with email as materialized (
    select e.id, e.account_id, e.thread_id
    from emails e join email_threads t on t.id = e.thread_id
    where e.id = $emailId and e.relay_message_id is null
    ${LOCK_THREADS}
    for no key update of e
  ), fresh as (
    ${tieMessageIds('select account_id, $messageId::text as message_id, thread_id from email')}
  )
  update emails e set relay_message_id = fresh.message_id from fresh where e.id = $emailId
  returning e.id`,
);
