/** Sends that are not carried out at once: what the caller may ask for, and how they enter the queue. */
import { defaultLane, MAX_LANE_LENGTH, type QueuePlace } from '../../core/delivery/priority.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { ServiceError } from '../../core/errors.ts';
import type { OutboundPlacement } from '../../core/thread/place-outbound.ts';
import type { SendRequest, SendResult } from './use-cases.ts';
import type { Clock } from '../base/basics.ts';
import type { JournalEntry } from './journal-ports.ts';
import type { RecordedOutcome } from './outbound-ports.ts';
import { storeEmail, type StoreSendPorts } from './store-send.ts';
import { systemTimers, type Timers } from '../base/timers.ts';

export interface EnqueuePorts extends Pick<StoreSendPorts, 'blobs' | 'store' | 'retry' | 'logger'> {
  readonly clock: Clock;
  readonly wakeQueue: () => void;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

/** How far ahead a send may be scheduled. */
const MAX_AHEAD_MS = 366 * 24 * 60 * 60 * 1000;

/** How long a caller may wait for an unavailable database: one that is restarted is back by then. */
const STORE_AGAIN_FOR_MS = 5_000;
const STORE_AGAIN_PAUSE_MS = 200;

/**
 * Stores the email and its place in the queue in one commit. When that fails nothing is promised: the caller gets the
 * error, and a file that was stored already belongs to no email.
 *
 * @param sendAt null: at once
 */
export async function enqueueSend(
  ports: EnqueuePorts,
  entry: JournalEntry,
  sendAt: Date | null,
): Promise<SendResult> {
  const { record, envelope, queue } = entry;
  const firstDueAt = sendAt ?? ports.clock();
  await storeSurely(ports, entry, {
    state: 'queued',
    stateDetail: null,
    deliveries: envelope.rcptTo.map((address): RecipientOutcome => ({
      address,
      state: 'pending',
      reply: null,
    })),
    attempt: null,
    queue: {
      ...queue,
      dueAt: sendAt,
      giveUpAt: new Date(firstDueAt.getTime() + ports.retry.schedule.giveUpAfterMs),
    },
    relayMessageId: null,
  });
  if (sendAt === null) ports.wakeQueue();
  return { kind: 'queued', id: record.id, messageId: record.messageId, threadId: record.threadId };
}

/**
 * A commit whose answer was lost may have happened, and then the email is sent: saying that it failed would make the
 * caller send it twice. So the same record is stored again until the database answers, which changes nothing when it
 * is there.
 */
async function storeSurely(
  ports: EnqueuePorts,
  entry: JournalEntry,
  outcome: RecordedOutcome,
): Promise<void> {
  const { timers = systemTimers } = ports;
  const deadline = timers.now() + STORE_AGAIN_FOR_MS;
  for (;;) {
    try {
      await storeEmail(ports, entry, outcome);
      return;
    } catch (error) {
      const away = error instanceof ServiceError && error.code === 'database_unavailable';
      if (!away || timers.now() > deadline) throw error;
    }
    await new Promise<void>((resolve) => timers.after(STORE_AGAIN_PAUSE_MS, resolve));
  }
}

/** Whether the caller wants the answer when the email is queued, and not when the mail server has answered. */
export function asksForQueue({
  respondAsync,
  sendAt,
}: Pick<SendRequest, 'respondAsync' | 'sendAt'>): boolean {
  return respondAsync || sendAt !== null;
}

/** Throws `invalid_send_at` unless it is in the future and at most a year away. */
export function readSendAt(sendAt: Date | null, now: Date): Date | null {
  if (sendAt === null) return null;
  const aheadMs = sendAt.getTime() - now.getTime();
  if (!(aheadMs > 0 && aheadMs <= MAX_AHEAD_MS)) throw new ServiceError('invalid_send_at');
  return sendAt;
}

/** Throws `invalid_lane`. */
export function readQueuePlace(
  { lane, priority }: Pick<SendRequest, 'lane' | 'priority'>,
  rule: OutboundPlacement['rule'],
): QueuePlace {
  if (lane !== null && (lane.length > MAX_LANE_LENGTH || !/^[^\u0000-\u001f\u007f]+$/.test(lane))) {
    throw new ServiceError('invalid_lane');
  }
  return { lane: lane?.toWellFormed() ?? defaultLane(rule), priority: priority ?? 'normal' };
}
