/** Creates, changes and reads webhooks. The process that delivers learns of the changes from the database. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, IdSource } from '../../platform/base/basics.ts';
import { PLACE_CURSOR, readPage, type PageRequest } from '../../platform/base/paging.ts';
import { readPosition } from '../../core/event/event-id.ts';
import { naming, ServiceError } from '../../core/errors.ts';
import { keyIdOf, type Caller } from '../../core/keys/caller.ts';
import { checkOwnHeaders } from '../../core/webhook/own-headers.ts';
import { TEST_TYPE, type DeliveryOutcome } from '../../core/webhook/webhook.ts';
import type { PostWebhook } from './delivery-ports.ts';
import { toDelivery } from './delivery-record.ts';
import { requireRevision } from './webhook-store.ts';
import type {
  Delivery,
  DeliveryLog,
  EndpointRules,
  SealedSecrets,
  StoredWebhook,
  WebhookSealer,
  WebhookSecrets,
  WebhookSettings,
  WebhookStore,
} from './webhook-ports.ts';

/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;
/** Changes of one webhook at the same moment: the later one is made again, based on the earlier one. */
const MAX_TRIES = 5;

export interface WebhookPorts {
  readonly store: WebhookStore;
  readonly log: DeliveryLog;
  readonly sealer: WebhookSealer;
  readonly rules: EndpointRules;
  readonly post: PostWebhook;
  readonly clock: Clock;
  readonly ids: IdSource;
}

interface Change {
  readonly settings: WebhookSettings;
  readonly secrets: WebhookSecrets;
}

/** A webhook as callers see it: without its sealed part. */
export type WebhookView = Omit<StoredWebhook, 'sealed' | 'keyId'>;

export interface WebhookRequestSettings extends Omit<WebhookSettings, 'headerNames'> {
  /** Added to each request; by name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An event's id, or a time. */
export type ReplayStart = { readonly after: string } | { readonly since: Date };

export type Webhooks = ReturnType<typeof createWebhooks>;

/** All that take a webhook's id throw `webhook_not_found`; all throw `database_unavailable`. */
export function createWebhooks({ store, log, sealer, rules, post, clock, ids }: WebhookPorts) {
  const makeSecret = (): string => `whsec_${ids.randomBytes(SECRET_BYTES).toString('base64')}`;

  function seal(id: string, secrets: WebhookSecrets): SealedSecrets {
    const untils = secrets.secrets.flatMap(({ until }) => until ?? []);
    return { ...sealer.seal(id, secrets), oldSecretUntil: untils[0] ?? null };
  }

  async function read(id: string): Promise<StoredWebhook> {
    return found(await store.read(id));
  }

  /** @param toChange gets null for the secrets when no key of this process opens them; returns null when it would change nothing */
  async function change(
    id: string,
    revision: number | null,
    toChange: (webhook: StoredWebhook, secrets: WebhookSecrets | null) => Change | null,
  ): Promise<StoredWebhook> {
    for (let attempt = 1; ; attempt += 1) {
      const webhook = await read(id);
      requireRevision(webhook, revision);
      const wanted = toChange(webhook, sealer.open(id, webhook.sealed));
      if (wanted === null) return webhook;
      const { settings, secrets } = wanted;
      const changed = await store.change(id, settings, seal(id, secrets), webhook.sealed);
      if (changed !== null) return changed;
      if (attempt >= MAX_TRIES) throw new ServiceError('busy');
    }
  }

  function toSettings({ headers, ...settings }: WebhookRequestSettings): WebhookSettings {
    checkOwnHeaders(headers);
    return { ...settings, url: rules.check(settings.url), headerNames: Object.keys(headers) };
  }

  return {
    /**
     * `after`: the id of an event, to begin behind it; null: from now on. Throws `invalid_webhook_url`, `webhook_address_refused`,
     * `invalid_webhook_header`, `too_many_webhooks`, `events_expired` and `invalid_request`.
     */
    async create({ after, ...request }: WebhookRequestSettings & { readonly after: string | null }) {
      const id = ids.uuid();
      const secret = makeSecret();
      const secrets = { secrets: [{ secret, until: null }], headers: request.headers };
      const position = after === null ? null : readPosition(after);
      const webhook = await naming(id, store.create(id, toSettings(request), seal(id, secrets), position));
      return { webhook: toView(webhook), secret };
    },

    /** The newest first. Throws `invalid_cursor`. */
    async list(request: PageRequest & { readonly within: readonly string[] | null }) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        (before, limit) => store.list(request.within, before, limit),
        ({ createdAt, id }) => ({ date: createdAt, id }),
      );
      return { webhooks: items.map(toView), nextCursor };
    },

    read: async (id: string) => toView(await read(id)),

    /** Settings that are not given keep their values. Throws as `create` does, and `webhook_changed`. @param revision null: any */
    async change(
      id: string,
      revision: number | null,
      { headers, ...changes }: Partial<WebhookRequestSettings>,
    ) {
      const changed = await change(id, revision, (webhook, known) => {
        if (headers !== undefined) checkOwnHeaders(headers);
        const before = settingsOf(webhook);
        const settings: WebhookSettings = {
          ...before,
          ...changes,
          ...(changes.url === undefined ? {} : { url: rules.check(changes.url) }),
          ...(headers === undefined ? {} : { headerNames: Object.keys(headers) }),
        };
        // Secrets that can't be read can't be kept: a new secret has to be requested first.
        const secrets = known ?? unreadable();
        const hasSameHeaders = headers === undefined || isDeepStrictEqual({ ...headers }, secrets.headers);
        if (hasSameHeaders && isDeepStrictEqual(settings, before)) return null;
        return { settings, secrets: headers === undefined ? secrets : { ...secrets, headers } };
      });
      return toView(changed);
    },

    /** Throws `webhook_changed`. @param revision null: any */
    async delete(id: string, revision: number | null) {
      if (!(await store.delete(id, revision))) throw new ServiceError('webhook_not_found');
    },

    pause: async (caller: Caller, id: string) => toView(found(await store.pause(id, keyIdOf(caller)))),
    /** Continues where it stopped; events that wait for another attempt are tried at once. Throws `events_expired`. */
    resume: async (caller: Caller, id: string) => toView(found(await store.resume(id, keyIdOf(caller)))),

    /** Makes it continue after an event, or from a time on. Throws `events_expired`, `invalid_request`. */
    async replay(id: string, start: ReplayStart) {
      await read(id);
      const position = 'after' in start ? readPosition(start.after) : await store.positionAt(start.since);
      return toView(found(await store.moveTo(id, position)));
    },

    /** Makes a new secret; the previous one stays in use as well for this long. */
    async rotateSecret(id: string, oldValidMs: number) {
      const secret = makeSecret();
      const webhook = await change(id, null, (before, known) => {
        const old = oldValidMs > 0 ? known?.secrets[0]?.secret : undefined;
        const until = new Date(clock().getTime() + oldValidMs);
        const secrets = [{ secret, until: null }, ...(old === undefined ? [] : [{ secret: old, until }])];
        const headers = known?.headers ?? {};
        return {
          settings: { ...settingsOf(before), headerNames: Object.keys(headers) },
          secrets: { secrets, headers },
        };
      });
      return { webhook: toView(webhook), secret };
    },

    /** Delivers an event that did not happen, once; the outcome is returned and kept, whatever it is. */
    async test(id: string, signal: AbortSignal): Promise<Delivery> {
      const webhook = await read(id);
      const secrets = sealer.open(id, webhook.sealed) ?? unreadable();
      const deliveryId = ids.uuid();
      const eventId = `test-${deliveryId}`;
      const body = JSON.stringify({
        id: eventId,
        type: TEST_TYPE,
        occurred_at: clock().toISOString(),
        account_id: webhook.accountId,
        email_id: null,
        thread_id: null,
        customer_id: webhook.customerId,
        company_id: null,
        historical: false,
        author: null,
        ...(webhook.payload === 'thin' ? {} : { data: { webhook_id: id } }),
      });
      const answer = await post({ url: webhook.url, secrets, eventId, body }, signal);
      const delivery = toDelivery(deliveryId, { eventId, type: TEST_TYPE, attempt: 1 }, answer);
      await log.add(id, delivery);
      return delivery;
    },

    /** The newest first. Throws `invalid_cursor`. @param outcome null: all */
    async deliveries(
      webhookId: string,
      { outcome, ...page }: PageRequest & { readonly outcome: DeliveryOutcome | null },
    ) {
      await read(webhookId);
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        page,
        (before, limit) => log.list(webhookId, outcome, before, limit),
        ({ startedAt, id }) => ({ date: startedAt, id }),
      );
      return { deliveries: items, nextCursor };
    },
  };
}

function unreadable(): never {
  throw new ServiceError('webhook_secret_unreadable');
}

function found(webhook: StoredWebhook | null): StoredWebhook {
  if (webhook === null) throw new ServiceError('webhook_not_found');
  return webhook;
}

function settingsOf(webhook: StoredWebhook): WebhookSettings {
  const { url, description, types, accountId, customerId, isHistorical, payload, ...others } = webhook;
  const { maxInFlight, headerNames } = others;
  return { url, description, types, accountId, customerId, isHistorical, payload, maxInFlight, headerNames };
}

function toView({ sealed: _sealed, keyId: _keyId, ...webhook }: StoredWebhook): WebhookView {
  return webhook;
}
