/** The operations on sends that operators may carry out. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import type { OperationResult, RetryPolicy, SendOperations } from './queue-ports.ts';

export interface OperateSendsPorts {
  readonly operations: SendOperations;
  readonly retry: RetryPolicy;
  /** Notifies the queue that something may be due. */
  readonly wakeQueue: () => void;
}

export type SendActs = ReturnType<typeof createSendActs>;

/** All of callers throw `email_not_found`, and their refusal. */
export function createSendActs({ operations, retry, wakeQueue }: OperateSendsPorts) {
  const { giveUpAfterMs } = retry.schedule;
  return {
    cancel: async (caller: Caller, id: string) =>
      stateOf(await operations.cancel(id, keyIdOf(caller)), 'not_cancellable'),

    async retry(caller: Caller, id: string) {
      const state = stateOf(await operations.retry(id, giveUpAfterMs, keyIdOf(caller)), 'not_retryable');
      wakeQueue();
      return state;
    },

    async resolve(caller: Caller, id: string, outcome: 'sent' | 'failed') {
      const state = stateOf(
        await operations.resolve(
          id,
          outcome,
          giveUpAfterMs,
          `an operator decided: ${outcome}`,
          keyIdOf(caller),
        ),
        'not_unknown',
      );
      wakeQueue();
      return state;
    },

    /** Evidence that an email went out: it becomes `sent`. Does nothing unless its outcome is unknown. */
    async settleUnknown(id: string, evidence: string) {
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
