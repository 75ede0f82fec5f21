/** The operations on sends that operators may carry out. */
import { ServiceError, type ErrorCode } from '../../core/errors.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { SendUseCases } from './use-cases.ts';
import type { OperationResult, RetryPolicy, SendOperations } from './queue-ports.ts';

export interface OperateSendsPorts {
  readonly operations: SendOperations;
  readonly retry: RetryPolicy;
  /** Notifies the queue that something may be due. */
  readonly wakeQueue: () => void;
}

interface Operations extends Pick<SendUseCases, 'cancelSend' | 'retrySend' | 'resolveSend'> {
  /** Evidence that an email went out: it becomes `sent`. Does nothing unless its outcome is unknown. */
  settleUnknown(id: string, evidence: string): Promise<void>;
}

export function createOperations({ operations, retry, wakeQueue }: OperateSendsPorts): Operations {
  const { giveUpAfterMs } = retry.schedule;
  return {
    cancelSend: async (id, keyId = null) => stateOf(await operations.cancel(id, keyId), 'not_cancellable'),

    async retrySend(id, keyId = null) {
      const state = stateOf(await operations.retry(id, giveUpAfterMs, keyId), 'not_retryable');
      wakeQueue();
      return state;
    },

    async resolveSend(id, outcome, keyId = null) {
      const state = stateOf(
        await operations.resolve(id, outcome, giveUpAfterMs, `an operator decided: ${outcome}`, keyId),
        'not_unknown',
      );
      wakeQueue();
      return state;
    },

    async settleUnknown(id, evidence) {
      await operations.resolve(id, 'sent', giveUpAfterMs, evidence, null);
      wakeQueue();
    },
  };
}

function stateOf(result: OperationResult, refusal: ErrorCode): EmailState {
  if (result.kind === 'not_found') throw new ServiceError('email_not_found');
  if (result.kind === 'refused') throw new ServiceError(refusal);
  return result.state;
}
