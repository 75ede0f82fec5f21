/** Reads the parts of a request that concern the queue. */
import { defaultLane, MAX_LANE_LENGTH, type QueuePlace } from '../../core/delivery/priority.ts';
import { DAY_MS } from '../../core/durations.ts';
import { ServiceError } from '../../core/errors.ts';
import type { OutboundPlacement } from '../../core/thread/place-outbound.ts';
import type { SendRequest } from './use-cases.ts';

/** How far ahead a send may be scheduled. */
const MAX_AHEAD_MS = 366 * DAY_MS;

/** True if the caller wants the answer when the email is queued, and not when the mail server has answered. */
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
