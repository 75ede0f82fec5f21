/** Creates, changes and reads webhooks. The process that delivers learns of the changes from the database. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, IdSource } from '../base/basics.ts';
import { PLACE_CURSOR, readPage } from '../base/paging.ts';
import { readPosition } from '../../core/event/event-id.ts';
import { naming, ServiceError } from '../../core/errors.ts';
import { checkOwnHeaders } from '../../core/webhook/own-headers.ts';
import { TEST_TYPE } from '../../core/webhook/webhook.ts';
import type { PostWebhook } from './delivery-ports.ts';
import { toDelivery } from './delivery-record.ts';
import type { WebhookRequestSettings, WebhookUseCases, WebhookView } from './use-cases.ts';
import type {
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

export function createWebhooks({
  store,
  log,
  sealer,
  rules,
  post,
  clock,
  ids,
}: WebhookPorts): WebhookUseCases {
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
    toChange: (webhook: StoredWebhook, secrets: WebhookSecrets | null) => Change | null,
  ): Promise<StoredWebhook> {
    for (let attempt = 1; ; attempt += 1) {
      const webhook = await read(id);
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
    async createWebhook({ after, ...request }) {
      const id = ids.uuid();
      const secret = makeSecret();
      const secrets = { secrets: [{ secret, until: null }], headers: request.headers };
      const position = after === null ? null : readPosition(after);
      const webhook = await naming(id, store.create(id, toSettings(request), seal(id, secrets), position));
      return { webhook: toView(webhook), secret };
    },

    async listWebhooks(request) {
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        request,
        (before, limit) => store.list(request.within ?? null, before, limit),
        ({ createdAt, id }) => ({ date: createdAt, id }),
      );
      return { webhooks: items.map(toView), nextCursor };
    },

    readWebhook: async (id) => toView(await read(id)),

    async changeWebhook(id, { headers, ...changes }) {
      const changed = await change(id, (webhook, known) => {
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

    async deleteWebhook(id) {
      if (!(await store.delete(id))) throw new ServiceError('webhook_not_found');
    },

    pauseWebhook: async (id, keyId) => toView(found(await store.pause(id, keyId))),
    resumeWebhook: async (id, keyId) => toView(found(await store.resume(id, keyId))),

    async replayWebhook(id, start) {
      await read(id);
      const position = 'after' in start ? readPosition(start.after) : await store.positionAt(start.since);
      return toView(found(await store.moveTo(id, position)));
    },

    async rotateWebhookSecret(id, oldValidMs) {
      const secret = makeSecret();
      const webhook = await change(id, (before, known) => {
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

    async testWebhook(id, signal) {
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

    async listWebhookDeliveries({ webhookId, outcome, ...page }) {
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
