/**
 * Stores how an attempt ended, in one transaction; a Message-ID that the relay gave follows in another one, which locks
 * threads before emails. The queue row is locked before the email's, here and wherever an operator changes a send, so
 * that transactions never wait for each other in a circle.
 */
import type { Kysely } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { EndedAttempt } from '../../../app/send/journal-ports.ts';
import type { RecordedSend } from '../../../app/send/outbound-ports.ts';
import type { Situation } from '../../../app/send/queue-ports.ts';
import { isOpen, type Conclusion } from '../../../core/delivery/conclude.ts';
import type { DeliveryState, RecipientOutcome } from '../../../core/delivery/states.ts';
import type { Database } from '../db/database.ts';
import { saveRelayMessageId } from './relay-message-ids.ts';
import { inTransaction } from '../db/transaction.ts';

/** See `SendQueue.settle`. */
export async function settleAttempt(
  pool: Pool,
  db: Kysely<Database>,
  owner: string,
  ended: EndedAttempt,
  decide: (situation: Situation) => Conclusion,
): Promise<RecordedSend> {
  const { emailId } = ended;
  const { relayMessageId } = ended.result;
  const known = await inTransaction(pool, async (client) => {
    const row = await lockQueueRow(client, emailId);
    const { rows } = await client.query<KnownIds>(
      'select message_id, relay_message_id from emails where id = $1 for update',
      [emailId],
    );
    const isCurrent = row?.owner === owner && row.claim_id === ended.claimId;
    await saveAttempt(client, ended);
    const { recipients, kind } = ended.result;
    await saveOutcomes(
      client,
      emailId,
      isCurrent ? recipients : recipients.filter(({ state }) => state === 'accepted'),
    );
    if (isCurrent) {
      const states = await readStates(client, emailId);
      await applyConclusion(client, emailId, decide({ states, giveUpAt: row.give_up_at }));
    } else if (kind === 'accepted') {
      await acceptLate(client, emailId, row);
    }
    return rows[0];
  });
  const isNew =
    known !== undefined &&
    relayMessageId !== null &&
    relayMessageId !== known.message_id &&
    relayMessageId !== known.relay_message_id;
  return isNew
    ? saveRelayMessageId(pool, db, { emailId, messageId: relayMessageId })
    : { cameBack: false, orphans: [] };
}

/** Makes a row of the queue free. */
export const FREE = 'owner = null, claim_id = null, lease_until = null, claimed_at = null, begun_at = null';

interface KnownIds {
  message_id: string;
  relay_message_id: string | null;
}

export interface QueueRow {
  owner: string | null;
  claim_id: string | null;
  give_up_at: Date;
  /** With owner and lease, a process works on it. */
  is_claimed: boolean;
}

export async function lockQueueRow(client: PoolClient, emailId: string): Promise<QueueRow | undefined> {
  const { rows } = await client.query<QueueRow>(
    `select owner, claim_id, give_up_at, lease_until is not null as is_claimed
    from send_queue where email_id = $1 for update`,
    [emailId],
  );
  return rows[0];
}

export async function readStates(client: PoolClient, emailId: string): Promise<readonly DeliveryState[]> {
  const { rows } = await client.query<{ state: DeliveryState }>(
    'select state from email_deliveries where email_id = $1 order by ordinal',
    [emailId],
  );
  return rows.map((row) => row.state);
}

/** Gives the email its state, and its queue row back or away. */
export async function applyConclusion(
  client: PoolClient,
  emailId: string,
  { state, detail, dueAt }: Conclusion,
): Promise<void> {
  if (dueAt === null) {
    await client.query('delete from send_queue where email_id = $1', [emailId]);
  } else {
    await client.query(`update send_queue set ${FREE}, due_at = $2 where email_id = $1`, [emailId, dueAt]);
  }
  await client.query('update emails set state = $2, state_detail = $3 where id = $1', [
    emailId,
    state,
    detail,
  ]);
}

/** What was seen is never overwritten by what was assumed. */
async function saveAttempt(client: PoolClient, ended: EndedAttempt): Promise<void> {
  const { result } = ended;
  await client.query(
    `insert into delivery_attempts as a
      (email_id, attempt, started_at, ended_at, outcome, reply_code, reply_status, reply_text, detail)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (email_id, attempt) do update set
      started_at = excluded.started_at, ended_at = excluded.ended_at, outcome = excluded.outcome,
      reply_code = excluded.reply_code, reply_status = excluded.reply_status, reply_text = excluded.reply_text,
      detail = excluded.detail
    where a.outcome = 'unknown'`,
    [
      ended.emailId,
      ended.attempt,
      ended.startedAt,
      ended.endedAt,
      result.kind,
      result.reply?.code ?? null,
      result.reply?.enhancedStatus ?? null,
      result.reply?.text ?? null,
      result.detail,
    ],
  );
}

/**
 * That a recipient was accepted is never taken back. A recipient that is `rejected` although the attempt was
 * under way bounced meanwhile, and is not retried unless the attempt says otherwise.
 */
async function saveOutcomes(
  client: PoolClient,
  emailId: string,
  outcomes: readonly RecipientOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await client.query(
    `update email_deliveries d
    set state = r.state, reply_code = r.reply_code, reply_status = r.reply_status, reply_text = r.reply_text
    from jsonb_to_recordset($2::jsonb)
      as r (address text, state text, reply_code int, reply_status text, reply_text text)
    where d.email_id = $1 and d.address = r.address and d.state <> 'accepted'
      and (d.state <> 'rejected' or r.state in ('accepted', 'rejected'))`,
    [
      emailId,
      JSON.stringify(
        outcomes.map(({ address, state, reply }) => ({
          address,
          state,
          reply_code: reply?.code ?? null,
          reply_status: reply?.enhancedStatus ?? null,
          reply_text: reply?.text ?? null,
        })),
      ),
    ],
  );
}

/**
 * An acceptance that became known after the claim was taken for lost: it ends the email when no recipient is left to be
 * reached and no other process works on it, whatever was assumed or asked for meanwhile.
 */
async function acceptLate(client: PoolClient, emailId: string, row: QueueRow | undefined): Promise<void> {
  if (row !== undefined && row.is_claimed) return;
  const states = await readStates(client, emailId);
  if (states.some((state) => isOpen(state) || state === 'unknown')) return;
  await client.query('delete from send_queue where email_id = $1', [emailId]);
  await client.query(
    `update emails set state = 'sent', state_detail = null where id = $1 and state <> 'sent'`,
    [emailId],
  );
}
