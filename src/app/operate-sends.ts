/** What operators may do to sends, and the list in which they find them. */
import { parseSearchQuery } from '../core/search/query.ts';
import { ServiceError, type ErrorCode } from '../core/errors.ts';
import type { EmailState } from '../core/delivery/states.ts';
import type { Application } from './application.ts';
import { nextCursor, parseCursor } from './cursor.ts';
import type { Clock } from './ports.ts';
import type { OperationResult, RetryPolicy, SendOperations } from './queue-ports.ts';

export interface OperateSendsPorts {
  readonly operations: SendOperations;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** Tells the queue that something may be due. */
  readonly wakeQueue: () => void;
}

interface Operations extends Pick<Application, 'listEmails' | 'cancelSend' | 'retrySend' | 'resolveSend'> {
  /** Evidence that an email went out: it becomes `sent`. Does nothing when its outcome is not unknown. */
  settleUnknown(id: string, evidence: string): Promise<void>;
}

export function createOperations({ operations, retry, clock, wakeQueue }: OperateSendsPorts): Operations {
  const giveUpAt = () => new Date(clock().getTime() + retry.schedule.giveUpAfterMs);
  return {
    async listEmails({ cursor, q, ...request }) {
      const after = cursor === null ? null : parseCursor(cursor);
      const search = q === null ? null : parseSearchQuery(q);
      if (q !== null && search === null) return { emails: { kind: 'whole', json: '' }, nextCursor: null };
      const { emails, next } = await operations.listEmails({ ...request, search, after });
      return { emails, nextCursor: nextCursor(next) };
    },

    cancelSend: async (id) => stateOf(await operations.cancel(id), 'not_cancellable'),

    async retrySend(id) {
      const state = stateOf(await operations.retry(id, giveUpAt()), 'not_retryable');
      wakeQueue();
      return state;
    },

    async resolveSend(id, outcome) {
      const state = stateOf(
        await operations.resolve(id, outcome, giveUpAt(), `an operator decided: ${outcome}`),
        'not_unknown',
      );
      wakeQueue();
      return state;
    },

    async settleUnknown(id, evidence) {
      await operations.resolve(id, 'sent', giveUpAt(), evidence);
      wakeQueue();
    },
  };
}

function stateOf(result: OperationResult, refusal: ErrorCode): EmailState {
  if (result.kind === 'not_found') throw new ServiceError('email_not_found');
  if (result.kind === 'refused') throw new ServiceError(refusal);
  return result.state;
}
