/**
 * What operators do to sends. Each change locks the queue row, then the email, checks its state and only then acts: of
 * two changes at the same moment, one finds the state changed and is refused.
 */
import type { Pool, PoolClient } from 'pg';
import type { OperationResult, SendOperations } from '../../../app/send/queue-ports.ts';
import { conclude } from '../../../core/delivery/conclude.ts';
import { defaultLane, PRIORITIES } from '../../../core/delivery/priority.ts';
import type { EmailState } from '../../../core/delivery/states.ts';
import type { Placement } from '../../../app/emails/email-ports.ts';
import { applyConclusion, FREE, lockQueueRow, readStates, type QueueRow } from './settle-attempt.ts';
import { inTransaction } from '../db/transaction.ts';

export function createSendOperations(pool: Pool): SendOperations {
  const change = (
    emailId: string,
    act: (client: PoolClient, email: LockedEmail, row: QueueRow | undefined) => Promise<EmailState | null>,
  ): Promise<OperationResult> =>
    inTransaction(pool, async (client) => {
      const row = await lockQueueRow(client, emailId);
      const email = await lockEmail(client, emailId);
      if (email === undefined) return { kind: 'not_found' };
      const state = await act(client, email, row);
      return state === null ? { kind: 'refused' } : { kind: 'done', state };
    });

  return {
    cancel: (emailId) =>
      change(emailId, async (client, { state }, row) => {
        if ((state !== 'queued' && state !== 'deferred') || row === undefined || row.owner !== null)
          return null;
        const states = await readStates(client, emailId);
        const reached = states.filter((delivery) => delivery === 'accepted').length;
        const missed = states.length - reached;
        // What a recipient has received can't be taken back.
        const next = reached > 0 ? 'sent' : 'cancelled';
        const detail = reached > 0 ? `cancelled for ${missed} of ${states.length} recipients` : null;
        await applyConclusion(client, emailId, { state: 'sent', detail, dueAt: null });
        await setState(client, emailId, next, detail);
        return next;
      }),

    retry: (emailId, giveUpAt) =>
      change(emailId, async (client, email, row) => {
        if (email.state === 'deferred' && row !== undefined && row.owner === null) {
          await client.query('update send_queue set due_at = now() where email_id = $1', [emailId]);
          return 'deferred';
        }
        if (!RETRYABLE.has(email.state)) return null;
        await client.query(
          `update email_deliveries set state = 'pending' where email_id = $1 and state <> 'accepted'`,
          [emailId],
        );
        await enqueue(client, email, giveUpAt, new Date(0));
        await setState(client, emailId, 'queued', null);
        return 'queued';
      }),

    resolve: (emailId, outcome, giveUpAt, reason) =>
      change(emailId, async (client, email) => {
        if (email.state !== 'unknown') return null;
        await client.query(
          `update email_deliveries set state = $2 where email_id = $1 and state = 'unknown'`,
          [emailId, outcome === 'sent' ? 'accepted' : 'rejected'],
        );
        const states = await readStates(client, emailId);
        // Recipients that were put off while the others' outcome was unknown have their turn now.
        const conclusion = conclude(states, reason, new Date());
        if (conclusion.dueAt !== null) await enqueue(client, email, giveUpAt, conclusion.dueAt);
        await applyConclusion(client, emailId, conclusion);
        return conclusion.state;
      }),
  };
}

/** What can be sent again. An email that is `deferred` is in the queue already. */
const RETRYABLE: ReadonlySet<EmailState> = new Set<EmailState>(['failed', 'cancelled', 'unknown']);

interface LockedEmail {
  id: string;
  state: EmailState;
  placement_rule: Placement['rule'];
}

async function lockEmail(client: PoolClient, emailId: string): Promise<LockedEmail | undefined> {
  const { rows } = await client.query<LockedEmail>(
    'select id, state, placement_rule from emails where id = $1 for update',
    [emailId],
  );
  return rows[0];
}

async function setState(
  client: PoolClient,
  emailId: string,
  state: EmailState,
  detail: string | null,
): Promise<void> {
  await client.query('update emails set state = $2, state_detail = $3 where id = $1', [
    emailId,
    state,
    detail,
  ]);
}

/** Puts the email into the queue as a free row, whatever row it has; attempts continue to be counted from where they ended. */
async function enqueue(client: PoolClient, email: LockedEmail, giveUpAt: Date, dueAt: Date): Promise<void> {
  await client.query(
    `insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at, attempts)
    select e.id, e.account_id, $2, $3, least($5, now()), $4,
      (select coalesce(max(a.attempt), 0) from delivery_attempts a where a.email_id = e.id)
    from emails e where e.id = $1
    on conflict (email_id) do update set
      ${FREE}, due_at = excluded.due_at, give_up_at = excluded.give_up_at`,
    [email.id, defaultLane(email.placement_rule), PRIORITIES.indexOf('normal'), giveUpAt, dueAt],
  );
}
