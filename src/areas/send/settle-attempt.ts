/**
 * Stores how attempts ended. Most of them end alike, with every recipient accepted: one statement stores all such attempts of one moment.
 * Any other takes a transaction of its own. A Message-ID that the relay gave is stored in a later transaction, which locks threads before
 * emails.
 */
import type { Pool } from 'pg';
import type { CertainUntil } from '../../platform/base/clock-guard.ts';
import type { EndedAttempt } from './journal-ports.ts';
import type { RecordedSend } from './outbound-ports.ts';
import type { Situation } from './queue-ports.ts';
import { isOpen, type Conclusion } from '../../core/delivery/conclude.ts';
import { tookMs } from '../../core/statistics/latency.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { createBatches } from '../../platform/db/batches.ts';
import { isRetryable } from '../../platform/db/pool.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { applyConclusion, dequeue, lockQueueRow, type QueueRow } from './queue-rows.ts';
import { saveRelayMessageId } from './relay-message-ids.ts';
import {
  acceptAll,
  acceptedRows,
  endAsSent,
  lockedEmailsOf,
  readStates,
  saveAttempt,
  saveOutcomes,
  setState,
  toAcceptedRow,
} from './send-states.ts';

interface Settlement {
  readonly owner: string;
  readonly ended: EndedAttempt;
  readonly decide: (situation: Situation) => Conclusion;
}

/** Most attempts in one statement. */
const MAX_BATCH = 64;
/** No caller waits for the outcome of a queued send, and a statement costs nearly the same for one as for thirty. */
const GATHER_MS = 40;

/** Returns the function that stores one attempt; see `SendQueue.settle`. */
export function createAttemptSettler(
  pool: Pool,
  certainUntil: CertainUntil,
): (settlement: Settlement) => Promise<RecordedSend> {
  const alone = (settlement: Settlement) => settleAlone(pool, settlement, certainUntil);
  const settleTogether = createBatches<Settlement, RecordedSend>(
    { name: 'settle-attempt', items: MAX_BATCH, bytes: Infinity, failTogether: false, gatherMs: GATHER_MS },
    () => 0,
    async (settlements) => {
      const settled = await acceptTogether(pool, settlements);
      return settlements.map((settlement) => {
        const email = settled.get(settlement.ended.emailId);
        return email === undefined ? alone(settlement) : tieRelays(pool, settlement.ended, email);
      });
    },
  );
  return (settlement) => (isAccepted(settlement.ended) ? settleTogether(settlement) : alone(settlement));
}

const isAccepted = ({ result: { kind, recipients } }: EndedAttempt) =>
  kind === 'accepted' && recipients.every(({ state }) => state === 'accepted');

/** Returns the attempts that it settled: those whose claim is unchanged, with no recipient left. */
async function acceptTogether(
  pool: Pool,
  settlements: readonly Settlement[],
): Promise<ReadonlyMap<string, KnownIds>> {
  const [first] = settlements;
  if (first === undefined) return new Map();
  const rows = settlements
    .map(({ ended, decide }) => {
      const states = ended.result.recipients.map(({ state }) => state);
      // The time of giving up does not matter: no recipient is left.
      return toAcceptedRow(ended, decide({ states, giveUpInMs: 0 }));
    })
    .sort((a, b) => (a.email_id < b.email_id ? -1 : 1));
  try {
    // One process has one owner.
    const settled = await run(pool, ACCEPT_ALL, { owner: first.owner, attempts: toStorableJson(rows) });
    return new Map(settled.map((email) => [email.id, email]));
  } catch (error) {
    // Another transaction locked some of the rows in another order.
    if (isRetryable(error)) return new Map();
    throw error;
  }
}

/**
 * The rows of the queue are locked first, and in one order. A statement sees other tables as they were when it began: an assumption that
 * another process recorded meanwhile, because the lease had run out, is overwritten by the known outcome.
 */
const ACCEPT_ALL = statement(
  'accept-claimed-sends',
  `with input as materialized (
    select * from ${acceptedRows('$attempts')}
  ), locked as materialized (
    select q.email_id, q.claim_id, q.timed_from from send_queue q
    where q.email_id = any (array(select email_id from input)) and q.owner = $owner
    order by q.email_id
    for update
  ), ${lockedEmailsOf('locked')}, whole as materialized (
    select i.*, l.timed_from from input i join locked l on l.email_id = i.email_id and l.claim_id = i.claim_id
    join locked_emails e on e.id = i.email_id
    where not exists (
      select from email_deliveries d
      where d.email_id = i.email_id and d.state <> 'accepted' and d.address <> all (i.addresses)
    )
    order by i.email_id
  ), ${acceptAll('whole')}, dequeued as (
    delete from send_queue q using whole w where q.email_id = w.email_id
  )
  select id, message_id, relay_message_id from ended_emails`,
);

type KnownIds = Omit<RowOf<typeof ACCEPT_ALL>, 'id'>;

async function settleAlone(
  pool: Pool,
  { owner, ended, decide }: Settlement,
  certainUntil: CertainUntil,
): Promise<RecordedSend> {
  const { emailId } = ended;
  const { recipients, kind } = ended.result;
  const known = await inTransaction(pool, async (client) => {
    const row = await lockQueueRow(client, emailId);
    const [email] = await run(client, LOCK_EMAIL, { emailId });
    const isCurrent = row?.owner === owner && row.claim_id === ended.claimId;
    await saveAttempt(client, ended);
    const facts = recipients.filter(({ state }) => state === 'accepted');
    await saveOutcomes(client, emailId, isCurrent ? recipients : facts);
    if (isCurrent) {
      const states = await readStates(client, emailId);
      const took = ended.endedAt === null ? null : tookMs(row.timed_from, ended.endedAt);
      const conclusion = decide({
        states,
        giveUpInMs: row.read_at <= certainUntil() ? row.give_up_in_ms : null,
      });
      // Deferred once more: the feed must report that, so the state has to differ from the one before.
      if (conclusion.state === email?.state) await setState(client, emailId, 'sending', null);
      await applyConclusion(client, emailId, conclusion, took);
    } else if (kind === 'accepted') {
      await acceptLate(client, emailId, row);
    }
    return email;
  });
  return await tieRelays(pool, ended, known);
}

/** After the outcome; if it fails, a repeat finds the claim gone and makes up for it. */
async function tieRelays(
  pool: Pool,
  { emailId, result: { relayMessageId } }: EndedAttempt,
  known: KnownIds | undefined,
): Promise<RecordedSend> {
  const isNew =
    known !== undefined &&
    relayMessageId !== null &&
    relayMessageId !== known.message_id &&
    relayMessageId !== known.relay_message_id;
  return isNew
    ? saveRelayMessageId(pool, { emailId, messageId: relayMessageId })
    : { cameBack: false, orphans: [] };
}

const LOCK_EMAIL = statement(
  'lock-attempted-email',
  'select message_id, relay_message_id, state from emails where id = $emailId for update',
);

/**
 * An acceptance that became known after the claim was taken for lost: it ends the email if no recipient is left to be reached and no other
 * process works on it, whatever was assumed or requested meanwhile.
 */
async function acceptLate(executor: Executor, emailId: string, row: QueueRow | undefined): Promise<void> {
  if (row?.is_claimed === true) return;
  const states = await readStates(executor, emailId);
  if (states.some((state) => isOpen(state) || state === 'unknown')) return;
  await dequeue(executor, emailId);
  await endAsSent(executor, emailId);
}
