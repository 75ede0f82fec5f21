/** `client.webhooks` */
import { readVersion, type RequestOptions, type VersionOptions } from '../options.ts';
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

/** Addresses to which events are posted. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The secret is shown only in this answer. Not retried automatically: a repeat would make another webhook. */
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

  /** Fields that are not given keep their values. */
  async change(id: string, request: ChangeWebhookRequest, versioned: VersionOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    const { header, options } = readVersion(versioned);
    const body = plain<Schemas['ChangeWebhookRequest']>(request);
    return this.#transport.json(options, (attempt) =>
      this.#transport.api.PATCH('/api/webhooks/{id}', { ...attempt, params: { path, ...header }, body }),
    );
  }

  /** Not retried automatically: a repeat fails with `webhook_not_found`. */
  async delete(id: string, versioned: VersionOptions = {}): Promise<DeletedWebhook> {
    const path = pathOf(id);
    const { header, options } = readVersion(versioned);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.DELETE('/api/webhooks/{id}', { ...attempt, params: { path, ...header } }),
    );
  }

  /** Nothing is posted until `resume`. */
  async pause(id: string, options: RequestOptions = {}): Promise<Webhook> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/pause', { ...attempt, params: { path } }),
    );
  }

  /** Continues where the webhook stopped. Fails with `events_expired` when `replay` has to name a new start. */
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

  /** Makes a new secret, shown only in this answer. Not retried automatically: a repeat would end the old one. */
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

  /** Posts a test event and returns the result. */
  async test(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    const path = pathOf(id);
    return this.#transport.json({ ...options, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/webhooks/{id}/test', { ...attempt, params: { path } }),
    );
  }

  /** All attempts, newest first. */
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
