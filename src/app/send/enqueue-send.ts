/** Puts sends that are not carried out at once into the queue. */
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SendResult } from './use-cases.ts';
import type { OutboundRecord } from './outbound-ports.ts';
import type { PreparedSend } from './prepare-send.ts';
import { storeFiles, type StoreOutcomePorts } from './store-outcome.ts';
import { deleteFiles } from '../files/delete-files.ts';
import { systemTimers, type Timers } from '../base/timers.ts';

export interface EnqueuePorts extends Pick<StoreOutcomePorts, 'blobs' | 'store' | 'logger'> {
  readonly wakeQueue: () => void;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

/** How long a caller may wait for an unavailable database: a restarted one is back by then. */
const STORE_AGAIN_FOR_MS = 5_000;
const STORE_AGAIN_PAUSE_MS = 200;

/**
 * Stores the email and its place in the queue in one commit. When that fails nothing is promised: the caller gets the
 * error, and a file that was already stored belongs to no email.
 */
export async function enqueueSend(
  ports: EnqueuePorts,
  { email, envelope }: PreparedSend,
): Promise<SendResult> {
  const { record, queue } = email;
  const deliveries = envelope.rcptTo.map((address): RecipientOutcome => ({
    address,
    state: 'pending',
    reply: null,
  }));
  await storeSurely(ports, async () => ({
    ...record,
    ...(await storeFiles(ports, email)),
    state: 'queued',
    stateDetail: null,
    deliveries,
    attempt: null,
    queue,
    relayMessageId: null,
  }));
  if (queue.dueAt === null) ports.wakeQueue();
  return { kind: 'queued', id: record.id, messageId: record.messageId, threadId: record.threadId };
}

/**
 * A commit whose answer was lost may have happened, and then the email is sent: reporting a failure would make the caller
 * send it twice. So the same record is stored again until the database answers, which changes nothing if the record
 * exists.
 */
async function storeSurely(ports: EnqueuePorts, makeRecord: () => Promise<OutboundRecord>): Promise<void> {
  const { timers = systemTimers } = ports;
  const deadline = timers.now() + STORE_AGAIN_FOR_MS;
  for (;;) {
    try {
      const { orphans } = await ports.store.recordOutbound(await makeRecord());
      await deleteFiles(ports, orphans);
      return;
    } catch (error) {
      const away = error instanceof ServiceError && error.code === 'database_unavailable';
      if (!away || timers.now() > deadline) throw error;
    }
    await new Promise<void>((resolve) => timers.after(STORE_AGAIN_PAUSE_MS, resolve));
  }
}
