/**
 * Stores how an attempt ended, in one transaction; a Message-ID that the relay gave follows in another one, which locks
 * threads before emails.
 */
import type { Pool } from 'pg';
import type { EndedAttempt } from '../../../app/send/journal-ports.ts';
import type { RecordedSend } from '../../../app/send/outbound-ports.ts';
import type { Situation } from '../../../app/send/queue-ports.ts';
import { isOpen, type Conclusion } from '../../../core/delivery/conclude.ts';
import { run, statement, type Executor } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { applyConclusion, dequeue, lockQueueRow, type QueueRow } from './queue-rows.ts';
import { saveRelayMessageId } from './relay-message-ids.ts';
import { endAsSent, readStates, saveAttempt, saveOutcomes } from './send-states.ts';

/** See `SendQueue.settle`. */
export async function settleAttempt(
  pool: Pool,
  owner: string,
  ended: EndedAttempt,
  decide: (situation: Situation) => Conclusion,
): Promise<RecordedSend> {
  const { emailId } = ended;
  const { relayMessageId, recipients, kind } = ended.result;
  const known = await inTransaction(pool, async (client) => {
    const row = await lockQueueRow(client, emailId);
    const [email] = await run(client, LOCK_EMAIL, { emailId });
    const isCurrent = row?.owner === owner && row.claim_id === ended.claimId;
    await saveAttempt(client, ended);
    const facts = recipients.filter(({ state }) => state === 'accepted');
    await saveOutcomes(client, emailId, isCurrent ? recipients : facts);
    if (isCurrent) {
      const states = await readStates(client, emailId);
      await applyConclusion(client, emailId, decide({ states, giveUpAt: row.give_up_at }));
    } else if (kind === 'accepted') {
      await acceptLate(client, emailId, row);
    }
    return email;
  });
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
  'select message_id, relay_message_id from emails where id = $emailId for update',
);

/**
 * An acceptance that became known after the claim was taken for lost: it ends the email when no recipient is left to be
 * reached and no other process works on it, whatever was assumed or asked for meanwhile.
 */
async function acceptLate(executor: Executor, emailId: string, row: QueueRow | undefined): Promise<void> {
  if (row?.is_claimed === true) return;
  const states = await readStates(executor, emailId);
  if (states.some((state) => isOpen(state) || state === 'unknown')) return;
  await dequeue(executor, emailId);
  await endAsSent(executor, emailId);
}
