/** Puts sends that are not carried out at once into the queue. */
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { naming, ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { directClaim } from './claim.ts';
import type { Journal, UnrecordedEmail } from './journal-ports.ts';
import type { OutboundRecord } from './outbound-ports.ts';
import type { PreparedSend } from './prepare-send.ts';
import type { Settling } from './settling.ts';
import { storeFiles, type StoreOutcomePorts } from './store-outcome.ts';
import type { Envelope } from './transport-ports.ts';
import type { SendResult } from './use-cases.ts';

type StoreQueuedPorts = Pick<StoreOutcomePorts, 'blobs' | 'store' | 'logger'>;

export interface EnqueuePorts extends StoreQueuedPorts {
  readonly journal: Pick<Journal, 'prepare'>;
  readonly settling: Pick<Settling, 'ask'>;
  readonly logger: Logger;
  readonly wakeQueue: () => void;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

/** How long a caller may wait for an unavailable database: a restarted one is back by then. */
const STORE_AGAIN_FOR_MS = 5_000;
const STORE_AGAIN_PAUSE_MS = 200;

/**
 * Stores the email and its place in the queue in one commit. When that certainly failed nothing is promised: the caller
 * gets the error, and a file that was already stored belongs to no email.
 *
 * A commit whose answer was lost may have happened, and then the email is sent: reporting a failure would make the caller
 * send it twice. So the same record is stored again until the database answers, which changes nothing if the record
 * exists; and when it stays away, the journal keeps the email and stores it later, under the same id.
 *
 * @param folder of the email's files; the journal may take it over
 * @param ifNewest see `OutboundStore.recordOutbound`
 */
export async function enqueueSend(
  ports: EnqueuePorts,
  { email, envelope }: PreparedSend,
  folder: SpoolFolder,
  ifNewest: string | null = null,
): Promise<SendResult> {
  const { record, queue } = email;
  const { timers = systemTimers } = ports;
  const deadline = timers.now() + STORE_AGAIN_FOR_MS;
  let mayBeStored = false;
  for (;;) {
    try {
      await storeQueued(ports, email, envelope, ifNewest);
      break;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'database_unavailable') throw error;
      mayBeStored ||= error.mayHaveHappened;
      if (timers.now() > deadline) {
        if (!mayBeStored) throw error;
        // The journal would store it later, when the thread may have moved on.
        if (ifNewest !== null)
          throw new ServiceError(error.code, {
            cause: error.cause,
            emailId: record.id,
            mayHaveHappened: true,
          });
        await naming(record.id, leaveToJournal(ports, { email, envelope }, folder, error));
        break;
      }
    }
    await new Promise<void>((resolve) => timers.after(STORE_AGAIN_PAUSE_MS, resolve));
  }
  if (queue.dueAt === null) ports.wakeQueue();
  return { kind: 'queued', id: record.id, messageId: record.messageId, threadId: record.threadId };
}

/** Throws the error of the database, as one whose outcome is unknown, when the journal can't take the email either. */
async function leaveToJournal(
  { journal, settling, logger }: EnqueuePorts,
  { email, envelope }: PreparedSend,
  folder: SpoolFolder,
  cause: ServiceError,
): Promise<void> {
  const claim = directClaim(email.record.id);
  try {
    await journal.prepare({ ...claim, envelope, startedAt: null, email }, folder);
  } catch (err) {
    logger.error({ err, emailId: claim.emailId }, 'a send for the queue could not be put into the journal');
    throw new ServiceError('database_unavailable', { cause: cause.cause, mayHaveHappened: true });
  }
  logger.warn(
    { err: cause, emailId: claim.emailId },
    'a send for the queue is in the journal until the database answers',
  );
  settling.ask(claim);
}

/** Stores a send for the queue; a repeat changes nothing. */
export async function storeQueued(
  ports: StoreQueuedPorts,
  email: UnrecordedEmail,
  { rcptTo }: Envelope,
  ifNewest: string | null = null,
): Promise<void> {
  const record: OutboundRecord = {
    ...email.record,
    ...(await storeFiles(ports, email)),
    state: 'queued',
    stateDetail: null,
    deliveries: rcptTo.map((address): RecipientOutcome => ({ address, state: 'pending', reply: null })),
    attempt: null,
    queue: email.queue,
    relayMessageId: null,
  };
  const { orphans } = await ports.store.recordOutbound(record, ifNewest);
  await deleteFiles(ports, orphans);
}
