/** `client.webhooks` */
import type { RequestOptions } from '../options.ts';
import type { Pages } from '../pages.ts';
import { plain, segment, type Transport } from '../transport.ts';
import type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  DeletedWebhook,
  DeliveryFilter,
  PageFilter,
  QueryOf,
  ReplayRequest,
  RotateSecretRequest,
  Schemas,
  Webhook,
  WebhookDelivery,
  WebhookWithSecret,
} from '../types.ts';

const pathOf = (id: string) => ({ id: segment('id', id) });

/** Addresses that events are posted to. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The secret is told this once. Not retried by itself: a repeat would make another webhook. */
  async create(request: CreateWebhookRequest, options: RequestOptions = {}): Promise<WebhookWithSecret> {
    const body = plain<Schemas['CreateWebhookRequest']>(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/webhooks', { ...attempt, body }),
    );
  }

  list(filter: PageFilter = {}, options: RequestOptions = {}): Pages<Webhook> {
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listWebhooks'>) =>
        this.#transport.api.GET('/api/webhooks', { ...attempt, params: { query } }),
      (data) => data.webhooks,
    );
  }

  /** Fails with `webhook_not_found`. */
  async get(id: string, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/webhooks/{id}', { ...attempt, params: { path } }),
    );
  }

  /** What is not named stays. */
  async change(id: string, request: ChangeWebhookRequest, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    const body = plain<Schemas['ChangeWebhookRequest']>(request);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.PATCH('/api/webhooks/{id}', { ...attempt, params: { path }, body }),
    );
  }

  /** Not retried by itself: a repeat fails with `webhook_not_found`. */
  async delete(id: string, options: RequestOptions = {}): Promise<DeletedWebhook> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/webhooks/{id}', { ...attempt, params: { path } }),
    );
  }

  /** Nothing is posted until `resume`. */
  async pause(id: string, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/pause', { ...attempt, params: { path } }),
    );
  }

  /** Goes on where it stopped. Fails with `events_expired` when `replay` has to say where. */
  async resume(id: string, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/resume', { ...attempt, params: { path } }),
    );
  }

  /** Moves the position, back or forward. Fails with `events_expired`. */
  async replay(id: string, start: ReplayRequest, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    const body =
      'after' in start
        ? { after: start.after }
        : { since: start.since instanceof Date ? start.since.toISOString() : start.since };
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/replay', { ...attempt, params: { path }, body }),
    );
  }

  /** A new secret, told this once. Not retried by itself: a repeat would end the old one. */
  async rotateSecret(
    id: string,
    request: RotateSecretRequest = {},
    options: RequestOptions = {},
  ): Promise<WebhookWithSecret> {
    const path = pathOf(id);
    const body = plain<Schemas['RotateSecretRequest']>(request);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/rotate-secret', { ...attempt, params: { path }, body }),
    );
  }

  /** Posts a test, and says what became of it. */
  async test(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/test', { ...attempt, params: { path } }),
    );
  }

  /** Every attempt, the newest first. */
  deliveries(id: string, filter: DeliveryFilter = {}, options: RequestOptions = {}): Pages<WebhookDelivery> {
    const path = pathOf(id);
    return this.#transport.pages(
      filter,
      options,
      (attempt, query: QueryOf<'listWebhookDeliveries'>) =>
        this.#transport.api.GET('/api/webhooks/{id}/deliveries', { ...attempt, params: { path, query } }),
      (data) => data.deliveries,
    );
  }
}
