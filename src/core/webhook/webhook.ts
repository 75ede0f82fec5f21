/** What a webhook is made of, in words that the API and the database share. */

export const WEBHOOK_PAYLOADS = ['full', 'thin'] as const;
/** `thin`: an event without its `data`. */
export type WebhookPayload = (typeof WEBHOOK_PAYLOADS)[number];

export const PAUSE_REASONS = ['by_hand', 'gone', 'failed', 'events_expired', 'secret_unreadable'] as const;
/**
 * `gone`: the endpoint answered 410. `failed`: three days of attempts failed. `events_expired`: events that it has not been given
 * are forgotten. `secret_unreadable`: no process knows the API secret under which its own secret was sealed.
 */
export type PauseReason = (typeof PAUSE_REASONS)[number];

export const DELIVERY_OUTCOMES = ['delivered', 'failed'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Requests under way for one webhook at the same moment. More than one gives up the order. */
export const MAX_IN_FLIGHT = 20;
/** Their limit bounds what each event costs. */
export const MAX_WEBHOOKS = 100;
/** Of a test: no event of the feed. */
export const TEST_TYPE = 'webhook.test';
