/** The values of a webhook's settings and states, shared by the API and the database. */

export const WEBHOOK_PAYLOADS = ['full', 'thin'] as const;
/** `thin`: an event without its `data`. */
export type WebhookPayload = (typeof WEBHOOK_PAYLOADS)[number];

export const PAUSE_REASONS = ['by_hand', 'gone', 'failed', 'events_expired', 'secret_unreadable'] as const;
/**
 * `gone`: the endpoint answered 410. `failed`: three days of attempts failed. `events_expired`: undelivered events are
 * forgotten. `secret_unreadable`: no process has the API secret with which the webhook's secret was sealed.
 */
export type PauseReason = (typeof PAUSE_REASONS)[number];

export const DELIVERY_OUTCOMES = ['delivered', 'failed'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Concurrent requests for one webhook. With more than one, the order of events is not kept. */
export const MAX_IN_FLIGHT = 20;
/** Bounds the cost of each event. */
export const MAX_WEBHOOKS = 100;
/** The type of a test, which is not an event of the feed. */
export const TEST_TYPE = 'webhook.test';
