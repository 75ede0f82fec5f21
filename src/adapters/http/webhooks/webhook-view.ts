/** Webhooks and their deliveries as JSON. */
import type { XStatic } from 'typebox/schema';
import type { Delivery } from '../../../app/webhooks/webhook-ports.ts';
import type { WebhookView } from '../../../app/webhooks/use-cases.ts';
import type { EventType } from '../../../core/event/event-types.ts';
import { formatEventId } from '../../../core/event/event-id.ts';
import {
  DELIVERY_OUTCOMES,
  MAX_IN_FLIGHT,
  PAUSE_REASONS,
  WEBHOOK_PAYLOADS,
} from '../../../core/webhook/webhook.ts';
import { EventId, EventTypeName } from '../events/events.ts';
import { pageSchema } from '../schemas/page-schemas.ts';
import { NullableTimestamp, NullableUuid, record, Timestamp, Uuid } from '../schemas/schemas.ts';

export const Payload = {
  title: 'WebhookPayload',
  $comment: '`thin`: without `data`.',
  type: 'string',
  enum: WEBHOOK_PAYLOADS,
} as const;
export const MaxInFlight = { type: 'integer', minimum: 1, maximum: MAX_IN_FLIGHT } as const;
export const Outcome = { title: 'DeliveryOutcome', type: 'string', enum: DELIVERY_OUTCOMES } as const;

export const Webhook = record('Webhook', {
  id: Uuid,
  url: { type: 'string' },
  description: { type: 'string', description: 'For people; may be empty.' },
  types: {
    type: ['array', 'null'],
    items: EventTypeName,
    description: 'Types to post; null: all types, including future ones.',
  },
  account_id: { type: ['string', 'null'], description: 'Only events of this account; null: all.' },
  customer_id: { ...NullableUuid, description: 'Only events of this customer; null: all.' },
  historical: {
    type: ['boolean', 'null'],
    description: 'False: without historical mail; true: only historical mail; null: both.',
  },
  payload: Payload,
  max_in_flight: { ...MaxInFlight, description: 'Concurrent requests; 1 keeps the order of events.' },
  header_names: {
    type: 'array',
    items: { type: 'string' },
    description: 'Names of the header fields added to each request. Their values are not shown.',
  },
  old_secret_until: {
    ...NullableTimestamp,
    description: 'Until when requests are also signed with the previous secret.',
  },
  state: { type: 'string', enum: ['active', 'paused'] },
  paused_at: NullableTimestamp,
  pause_reason: {
    type: ['string', 'null'],
    // An enum that may also be null must list null.
    enum: [...PAUSE_REASONS, null],
    description:
      '`failed`: the endpoint accepted nothing for three days. `gone`: the endpoint answered 410. `events_expired`: the webhook ' +
      'missed events that are no longer kept. `secret_unreadable`: API_SECRET was changed, so the webhook needs a new secret.',
  },
  pause_detail: { type: ['string', 'null'], description: 'The last error, in English.' },
  position: { ...EventId, description: 'All events up to this one are delivered.' },
  failing_since: {
    ...NullableTimestamp,
    description: 'First failure of the oldest event that awaits another attempt.',
  },
  next_attempt_at: { ...NullableTimestamp, description: 'Time of the next attempt.' },
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const Webhooks = pageSchema('Webhooks', 'webhooks', Webhook);

const SECRET = {
  type: 'string',
  description: 'Secret for verifying signatures (Standard Webhooks): `whsec_` and Base64. Shown only once.',
} as const;
export const WebhookWithSecret = record('WebhookWithSecret', { webhook: Webhook, secret: SECRET });

export const WebhookDelivery = record('WebhookDelivery', {
  id: Uuid,
  event_id: { type: 'string', description: 'Value of the header `webhook-id`.' },
  event_type: { type: 'string' },
  attempt: { type: 'integer', minimum: 1 },
  started_at: Timestamp,
  duration_ms: { type: 'integer', minimum: 0 },
  outcome: Outcome,
  status: {
    type: ['integer', 'null'],
    description: 'HTTP status of the response; null when there was none.',
  },
  error: { type: ['string', 'null'], description: 'Error, in English; null when the attempt succeeded.' },
  answer: { type: 'string', description: 'Body of the response, up to 4 kB.' },
});
export const WebhookDeliveries = pageSchema('WebhookDeliveries', 'deliveries', WebhookDelivery);

/** TypeBox derives no type from a list that may be null. */
interface WebhookJson extends Omit<XStatic<typeof Webhook>, 'types'> {
  readonly types: readonly EventType[] | null;
}

export function toWebhookJson(webhook: WebhookView): WebhookJson {
  const { pause } = webhook;
  const failed = webhook.beyond.failed.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  const since = failed.map((event) => event.since.toISOString()).toSorted();
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    types: webhook.types,
    account_id: webhook.accountId,
    customer_id: webhook.customerId,
    historical: webhook.isHistorical,
    payload: webhook.payload,
    max_in_flight: webhook.maxInFlight,
    header_names: [...webhook.headerNames],
    old_secret_until: webhook.oldSecretUntil?.toISOString() ?? null,
    state: pause === null ? 'active' : 'paused',
    paused_at: pause?.since.toISOString() ?? null,
    pause_reason: pause?.reason ?? null,
    pause_detail: pause?.detail ?? null,
    position: formatEventId(webhook.position),
    failing_since: since[0] ?? null,
    next_attempt_at: pause === null ? (failed[0]?.dueAt.toISOString() ?? null) : null,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

export function toDeliveryJson(delivery: Delivery): XStatic<typeof WebhookDelivery> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.type,
    attempt: delivery.attempt,
    started_at: delivery.startedAt.toISOString(),
    duration_ms: Math.round(delivery.durationMs),
    outcome: delivery.outcome,
    status: delivery.status,
    error: delivery.error,
    answer: delivery.answer,
  };
}
