/** The meaning of an endpoint's answer, as it is recorded. */
import type { WebhookAnswer } from './delivery-ports.ts';
import type { Delivery } from './webhook-ports.ts';

/** The status alone decides: an endpoint that answered 2xx has the event, whatever becomes of the rest of its answer. */
export const isTaken = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

export function toDelivery(
  id: string,
  event: Pick<Delivery, 'eventId' | 'type' | 'attempt'>,
  { startedAt, durationMs, status, error, text }: WebhookAnswer,
): Delivery {
  const taken = isTaken(status);
  return {
    id,
    ...event,
    startedAt,
    durationMs,
    outcome: taken ? 'delivered' : 'failed',
    status,
    error: taken ? null : (error ?? describe(status)),
    answer: text,
  };
}

const describe = (status: number | null): string =>
  status !== null && status >= 300 && status < 400
    ? `the answer was ${status}; redirects are not followed`
    : `the answer was ${status}`;
