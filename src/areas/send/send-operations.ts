/**
 * Operators' changes of sends. Each locks the queue row, then the email, checks its state and only then acts: of two changes at the same
 * moment, one finds the state changed and is refused.
 */
import type { Pool } from 'pg';
import type { OperationResult, SendOperations } from './queue-ports.ts';
import { conclude } from '../../core/delivery/conclude.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import {
  applyConclusion,
  bringForward,
  dequeue,
  enqueue,
  lockQueueRow,
  type QueueRow,
} from './queue-rows.ts';
import { readStates, reopenRecipients, resolveRecipients, setState } from './send-states.ts';

export function createSendOperations(pool: Pool): SendOperations {
  const change = (
    emailId: string,
    keyId: string | null | undefined,
    act: (
      executor: Executor,
      email: RowOf<typeof LOCK_EMAIL>,
      row: QueueRow | undefined,
    ) => Promise<EmailState | null>,
  ): Promise<OperationResult> =>
    inTransaction(pool, async (client) => {
      await nameAuthor(client, keyId);
      const row = await lockQueueRow(client, emailId);
      const [email] = await run(client, LOCK_EMAIL, { emailId });
      if (email === undefined) return { kind: 'not_found' };
      const state = await act(client, email, row);
      return state === null ? { kind: 'refused' } : { kind: 'done', state };
    });

  return {
    cancel: (emailId, keyId) =>
      change(emailId, keyId, async (executor, { state }, row) => {
        if ((state !== 'queued' && state !== 'deferred') || row === undefined || row.owner !== null)
          return null;
        const states = await readStates(executor, emailId);
        const reached = states.filter((delivery) => delivery === 'accepted').length;
        const missed = states.length - reached;
        // An email that a recipient has received can't be taken back.
        const next = reached > 0 ? 'sent' : 'cancelled';
        const detail = reached > 0 ? `cancelled for ${missed} of ${states.length} recipients` : null;
        await dequeue(executor, emailId);
        await setState(executor, emailId, next, detail);
        return next;
      }),

    retry: (emailId, giveUpAfterMs, keyId) =>
      change(emailId, keyId, async (executor, email, row) => {
        if (email.state === 'deferred' && row !== undefined && row.owner === null) {
          await bringForward(executor, emailId);
          return 'deferred';
        }
        if (!RETRYABLE.has(email.state)) return null;
        await reopenRecipients(executor, emailId);
        await enqueue(executor, email, giveUpAfterMs);
        await setState(executor, emailId, 'queued', null);
        return 'queued';
      }),

    resolve: (emailId, outcome, giveUpAfterMs, reason, keyId) =>
      change(emailId, keyId, async (executor, email) => {
        if (email.state !== 'unknown') return null;
        await resolveRecipients(executor, emailId, outcome === 'sent' ? 'accepted' : 'rejected');
        const states = await readStates(executor, emailId);
        // Recipients that were put off while the others' outcome was unknown get their turn now.
        const conclusion = conclude(states, reason, 0);
        if (conclusion.dueInMs !== null) await enqueue(executor, email, giveUpAfterMs);
        await applyConclusion(executor, emailId, conclusion);
        return conclusion.state;
      }),
  };
}

/** States from which an email can be sent again. A `deferred` email is in the queue already. */
const RETRYABLE: ReadonlySet<EmailState> = new Set<EmailState>(['failed', 'cancelled', 'unknown']);

const LOCK_EMAIL = statement(
  'lock-operated-email',
  'select id, state, placement_rule from emails where id = $emailId for update',
);
