/** Stores how an attempt of the queue ended, then lets the journal forget it. May be repeated after any failure. */
import { conclude } from '../../core/delivery/conclude.ts';
import { nextAttemptAt } from '../../core/delivery/retry-schedule.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { deleteFiles } from '../files/delete-files.ts';
import type { BlobStore } from '../files/file-ports.ts';
import type { Clock, Logger } from '../base/basics.ts';
import type { TransportResult } from './transport-ports.ts';
import type { AttemptJournal, EndedAttempt, JournalAttempt, RetryPolicy, SendQueue } from './queue-ports.ts';

export interface StoreAttemptPorts {
  /** UUID of the journal of attempts: the process that has the journal has the evidence. */
  readonly owner: string;
  readonly queue: SendQueue;
  readonly attempts: AttemptJournal;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly logger: Logger;
}

/** Throws what the queue throws; the attempt is then still in the journal. */
export async function storeAttempt(ports: StoreAttemptPorts, ended: EndedAttempt): Promise<void> {
  const { result } = ended;
  const orphans = await ports.queue.settle(ports.owner, ended, ({ states, giveUpAt }) => {
    const dueAt = nextAttemptAt(ports.retry.schedule, {
      attempts: ended.attempt,
      failure: isConnectionFailure(result) ? 'connection' : 'reply',
      now: ports.clock(),
      giveUpAt,
      random: ports.retry.random(),
    });
    return conclude(states, result.detail, dueAt);
  });
  await deleteFiles(ports, orphans);
  await ports.attempts.removeAttempt(ended);
}

/** Nothing was said about the message: the next attempt need not wait as long. */
export function isConnectionFailure(result: TransportResult): boolean {
  return result.kind === 'refused' && result.temporary && result.reply === null;
}

/** The result of an attempt whose end was not seen. */
export function toUnseenEnd(attempt: JournalAttempt): EndedAttempt {
  return {
    ...attempt,
    endedAt: null,
    result: {
      kind: 'unknown',
      recipients: attempt.envelope.rcptTo.map((address): RecipientOutcome => ({
        address,
        state: 'unknown',
        reply: null,
      })),
      reply: null,
      detail: 'the service ended while the email was being handed over',
      relayMessageId: null,
    },
  };
}
