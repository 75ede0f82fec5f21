/** Reads the parts of a request that concern the queue. */
import { defaultLane, isLane, type QueuePlace } from '../../core/delivery/priority.ts';
import { DAY_MS } from '../../core/durations.ts';
import { ServiceError } from '../../core/errors.ts';
import type { OutboundPlacement } from '../../core/thread/place-outbound.ts';
import type { SendRequest } from './use-cases.ts';

/** How far ahead a send may be scheduled. */
const MAX_AHEAD_MS = 366 * DAY_MS;

/**
 * True if the email is recorded before it is handed over: its caller does not wait for the mail server, or its thread must
 * have no newer email, which only the transaction that records it can decide.
 */
export function asksForQueue({
  respondAsync,
  sendAt,
  ifNewest,
}: Pick<SendRequest, 'respondAsync' | 'sendAt' | 'ifNewest'>): boolean {
  return respondAsync || sendAt !== null || ifNewest !== undefined;
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
  if (lane !== null && !isLane(lane)) throw new ServiceError('invalid_lane');
  return { lane: lane ?? defaultLane(rule), priority: priority ?? 'normal' };
}
