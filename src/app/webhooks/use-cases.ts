/** The use cases of webhooks that the edges call. */
import type { AccountFilter } from '../base/account-filter.ts';
import type { PageRequest } from '../base/paging.ts';
import type { DeliveryOutcome } from '../../core/webhook/webhook.ts';
import type { Delivery, StoredWebhook, WebhookSettings } from './webhook-ports.ts';

/** A webhook as callers see it: without its sealed part. */
export type WebhookView = Omit<StoredWebhook, 'sealed' | 'keyId'>;

export interface WebhookRequestSettings extends Omit<WebhookSettings, 'headerNames'> {
  /** Added to each request; by name. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface CreateWebhookRequest extends WebhookRequestSettings {
  /** The id of an event: begin after it; null: from now on. */
  readonly after: string | null;
}

export interface NewSecret {
  readonly webhook: WebhookView;
  /** `whsec_…`, returned only this once. */
  readonly secret: string;
}

export interface WebhooksPage {
  readonly webhooks: readonly WebhookView[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

export interface DeliveriesRequest extends PageRequest {
  readonly webhookId: string;
  /** null: all. */
  readonly outcome: DeliveryOutcome | null;
}

export interface DeliveriesPage {
  readonly deliveries: readonly Delivery[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** An event's id, or a time. */
export type ReplayStart = { readonly after: string } | { readonly since: Date };

/** All that take a webhook's id throw `webhook_not_found`; all throw `database_unavailable`. */
export interface WebhookUseCases {
  /**
   * Throws `invalid_webhook_url`, `webhook_address_refused`, `invalid_webhook_header`, `too_many_webhooks`, `events_expired` and
   * `invalid_request`.
   */
  createWebhook(request: CreateWebhookRequest): Promise<NewSecret>;
  /** The newest first. Throws `invalid_cursor`. */
  listWebhooks(request: PageRequest & Pick<AccountFilter, 'within'>): Promise<WebhooksPage>;
  readWebhook(id: string): Promise<WebhookView>;
  /** Settings that are not given keep their values. Throws as `createWebhook` does. */
  changeWebhook(id: string, change: Partial<WebhookRequestSettings>): Promise<WebhookView>;
  deleteWebhook(id: string): Promise<void>;
  pauseWebhook(id: string, keyId?: string | null): Promise<WebhookView>;
  /** Continues where it stopped; events that wait for another attempt are tried at once. Throws `events_expired`. */
  resumeWebhook(id: string, keyId?: string | null): Promise<WebhookView>;
  /** Makes it continue after an event, or from a time on. Throws `events_expired`, `invalid_request`. */
  replayWebhook(id: string, start: ReplayStart): Promise<WebhookView>;
  /** Makes a new secret; the previous one stays in use as well for this long. */
  rotateWebhookSecret(id: string, oldValidMs: number): Promise<NewSecret>;
  /** Delivers an event that did not happen, once; the outcome is returned and kept, whatever it is. */
  testWebhook(id: string, signal: AbortSignal): Promise<Delivery>;
  /** The newest first. Throws `invalid_cursor`. */
  listWebhookDeliveries(request: DeliveriesRequest): Promise<DeliveriesPage>;
}
