/** Webhooks in the API: /api/webhooks. */
import { formatEventId } from '../../core/event/event-id.ts';
import { EVENT_TYPES } from '../../core/event/event-types.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { ONE_LINE_PATTERN } from '../../core/one-line.ts';
import { MAX_HEADERS, MAX_HEADER_CHARS } from '../../core/webhook/own-headers.ts';
import {
  DELIVERY_OUTCOMES,
  MAX_IN_FLIGHT,
  PAUSE_REASONS,
  WEBHOOK_PAYLOADS,
} from '../../core/webhook/webhook.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Value } from '../../platform/operation/values.ts';
import { EventId, EventTypeName } from '../../platform/schemas/event-schemas.ts';
import { EntryVersion, IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import { NullableAccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { NullableTimestamp, NullableUuid, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { Clock } from '../../platform/base/basics.ts';
import type { Delivery } from './webhook-ports.ts';
import type { WebhookRequestSettings, Webhooks, WebhookView } from './webhooks.ts';

const MAX_URL_CHARS = 2000;
const MAX_DESCRIPTION_CHARS = 500;
/** All header fields at their maximum length, and some more. */
const MAX_WEBHOOK_BYTES = 128 * 1024;
const HOUR_MS = 3_600_000;
/** A week; for an endpoint that needs longer the secret is rotated again. */
const MAX_OLD_HOURS = 168;
/** Each waits for its endpoint. */
const MAX_TESTS = 10;

const Payload = {
  title: 'WebhookPayload',
  $comment: '`thin`: without `data`.',
  type: 'string',
  enum: WEBHOOK_PAYLOADS,
} as const;
const MaxInFlight = { type: 'integer', minimum: 1, maximum: MAX_IN_FLIGHT } as const;
const Outcome = { title: 'DeliveryOutcome', type: 'string', enum: DELIVERY_OUTCOMES } as const;

const Webhook = record('Webhook', {
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
  version: EntryVersion,
});

const WebhookWithSecret = record('WebhookWithSecret', {
  webhook: Webhook,
  secret: {
    type: 'string',
    description: 'Secret for verifying signatures (Standard Webhooks): `whsec_` and Base64. Shown only once.',
  },
});

const WebhookDelivery = record('WebhookDelivery', {
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

const settings = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_URL_CHARS,
    description:
      'URL that receives the events: https at a public address, or an address listed in WEBHOOK_ALLOW.',
  },
  description: {
    title: 'WebhookDescription',
    type: 'string',
    maxLength: MAX_DESCRIPTION_CHARS,
    pattern: ONE_LINE_PATTERN,
    $comment: 'For people, in one line.',
  },
  types: {
    type: ['array', 'null'],
    items: EventTypeName,
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    description: 'Types to post; null: all types, including future ones.',
  },
  account_id: { ...NullableAccountId, description: 'Only of this account.' },
  customer_id: { ...NullableUuid, description: 'Only of this customer.' },
  historical: {
    type: ['boolean', 'null'],
    description:
      'False: without historical mail, such as that of an import; true: only historical mail; null: both.',
  },
  payload: Payload,
  max_in_flight: {
    ...MaxInFlight,
    description:
      'Concurrent requests. With 1, events arrive in order and a failed event blocks the next; with more, neither holds.',
  },
  headers: {
    type: 'object',
    title: 'WebhookHeaders',
    maxProperties: MAX_HEADERS,
    additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_HEADER_CHARS },
    description: 'Header fields for each request, such as Authorization. Their values are not shown again.',
  },
} as const;

const CreateBody = {
  type: 'object',
  title: 'CreateWebhookRequest',
  additionalProperties: false,
  required: ['url'],
  properties: {
    ...settings,
    payload: { ...Payload, description: 'Without it, `full`.' },
    max_in_flight: { ...settings.max_in_flight, default: 1 },
    after: { ...EventId, description: 'Start after this event. Default: start with new events.' },
  },
} as const;

const ChangeBody = {
  type: 'object',
  title: 'ChangeWebhookRequest',
  additionalProperties: false,
  properties: settings,
} as const;

const ReplayBody = {
  type: 'object',
  title: 'ReplayRequest',
  additionalProperties: false,
  properties: {
    after: {
      ...EventId,
      description: 'Continue after this event; `0000000000000000`: start with the first event that is kept.',
    },
    since: { ...Timestamp, description: 'Continue with events from this time on.' },
  },
} as const;

const RotateBody = {
  type: 'object',
  title: 'RotateSecretRequest',
  additionalProperties: false,
  properties: {
    old_valid_hours: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_OLD_HOURS,
      default: 24,
      description: 'Hours for which requests are also signed with the old secret.',
    },
  },
} as const;

const params = { id: { ...Uuid, description: 'The webhook.' } } as const;
/** The document contains an answer that is the same everywhere once. */
const ANSWER = 'The webhook as it is now.';
const tag = 'Webhooks';

interface Deps {
  readonly webhooks: Webhooks;
  readonly clock: Clock;
}

const operation = operationsWith<Deps>();

/** Webhooks that have no account post the events of all of them. */
const account = {
  of: async ({ id }: { readonly id: string }, { webhooks }: Deps) => (await webhooks.read(id)).accountId,
  missing: 'webhook_not_found',
} as const;

const SETTING_ERRORS = [
  'invalid_webhook_url',
  'webhook_address_refused',
  'invalid_webhook_header',
  'busy',
] as const;

const before = async ({ id }: { readonly id: string }, { webhooks }: Deps) =>
  actFields(toShown(await webhooks.read(id)));

export const webhookOperations = [
  operation({
    id: 'createWebhook',
    method: 'POST',
    path: '/api/webhooks',
    right: 'admin',
    account: {
      decide: async (input, seen) => ({
        ...input,
        accountId: await seen.chosenOrAll(input.accountId ?? null),
      }),
    },
    tag,
    summary: 'Create a webhook',
    description:
      'Posts each event that matches the filters at least once, with retries for three days. The ' +
      '[guide](/api/docs/webhooks) shows how to verify the signature.',
    body: CreateBody,
    maxBodyBytes: MAX_WEBHOOK_BYTES,
    answer: 'Created, with its secret.',
    creates: true,
    output: WebhookWithSecret,
    errors: [...SETTING_ERRORS, 'invalid_uuid', 'events_expired', 'too_many_webhooks'],
    act: {
      event: 'webhook.created',
      what: ({ url }) => ({ host: hostOf(url) }),
      after: ({ webhook }) => actFields(webhook),
    },
    async run(_caller, { url, maxInFlight, after = null, ...others }, { webhooks }) {
      const made = await webhooks.create({
        description: '',
        types: null,
        accountId: null,
        customerId: null,
        isHistorical: null,
        payload: 'full',
        headers: {},
        ...toSettings(others),
        url,
        maxInFlight,
        after,
      });
      return { ...made, webhook: toShown(made.webhook) };
    },
  }),

  operation({
    id: 'listWebhooks',
    method: 'GET',
    path: '/api/webhooks',
    right: 'operate',
    account: 'list',
    tag,
    summary: 'List webhooks',
    description: 'The newest first.',
    query: PAGE_PARAMETERS,
    answer: 'One page.',
    output: pageSchema('Webhooks', 'webhooks', Webhook),
    async run(_caller, { limit, cursor = null, within }, { webhooks }) {
      const page = await webhooks.list({ limit, cursor, within });
      return { ...page, webhooks: page.webhooks.map(toShown) };
    },
  }),

  operation({
    id: 'getWebhook',
    method: 'GET',
    path: '/api/webhooks/:id',
    right: 'operate',
    account: { shown: ({ accountId }) => accountId, missing: 'webhook_not_found' },
    tag,
    summary: 'Read one webhook',
    description: 'Settings, position in the feed, and why it is paused.',
    params,
    answer: ANSWER,
    output: Webhook,
    versionOf,
    run: async (_caller, { id }, { webhooks }) => toShown(await webhooks.read(id)),
  }),

  operation({
    id: 'changeWebhook',
    method: 'PATCH',
    path: '/api/webhooks/:id',
    right: 'admin',
    account: {
      async decide(input, seen, deps) {
        if (seen.accounts !== null && !seen.sees(await account.of(input, deps)))
          throw new ServiceError('webhook_not_found');
        const { accountId } = input;
        if (accountId === null && seen.accounts !== null)
          throw invalidRequest('missing', { field: 'account_id' });
        if (typeof accountId === 'string') await seen.requireNamed(accountId);
        return input;
      },
    },
    tag,
    summary: 'Change a webhook',
    description:
      'Absent fields stay unchanged. `headers` are replaced as a whole. Requests under way still go to the old URL.',
    params,
    ifMatch: IF_THIS_VERSION,
    body: ChangeBody,
    maxBodyBytes: MAX_WEBHOOK_BYTES,
    answer: ANSWER,
    output: Webhook,
    versionOf,
    errors: [...SETTING_ERRORS, 'webhook_not_found', 'webhook_changed', 'webhook_secret_unreadable'],
    act: {
      event: 'webhook.changed',
      what: ({ id, version: _version, ...change }) => ({
        webhookId: id,
        fields: Object.keys(toSettings(change)),
      }),
      before,
      after: actFields,
    },
    run: async (_caller, { id, version, ...change }, { webhooks }) =>
      toShown(await webhooks.change(id, version, toSettings(change))),
  }),

  operation({
    id: 'deleteWebhook',
    method: 'DELETE',
    path: '/api/webhooks/:id',
    right: 'admin',
    account,
    tag,
    summary: 'Delete a webhook',
    description: 'Stops all requests. Needs no body; a body with fields is refused.',
    params,
    ifMatch: IF_THIS_VERSION,
    answer: 'Deleted.',
    output: record('DeletedWebhook', { id: Uuid, deleted_at: Timestamp }),
    errors: ['webhook_changed'],
    act: {
      event: 'webhook.deleted',
      what: ({ id }) => ({ webhookId: id }),
      before,
      after: () => null,
    },
    async run(_caller, { id, version }, { webhooks, clock }) {
      await webhooks.delete(id, version);
      return { id, deletedAt: clock() };
    },
  }),

  operation({
    id: 'pauseWebhook',
    method: 'POST',
    path: '/api/webhooks/:id/pause',
    right: 'operate',
    account,
    tag,
    summary: 'Pause a webhook',
    description:
      'Stops requests until the webhook is resumed; then all events since are posted. Needs no body; a body with fields is refused.',
    params,
    answer: 'Paused.',
    output: Webhook,
    act: {
      event: 'webhook.paused',
      what: ({ id }) => ({ webhookId: id }),
      before,
      after: actFields,
    },
    run: async (caller, { id }, { webhooks }) => toShown(await webhooks.pause(caller, id)),
  }),

  operation({
    id: 'resumeWebhook',
    method: 'POST',
    path: '/api/webhooks/:id/resume',
    right: 'operate',
    account,
    tag,
    summary: 'Resume a webhook',
    description:
      'Continues where the webhook stopped and retries waiting events at once. 410 when events that were not posted are no ' +
      'longer kept: choose a position by replay. Needs no body; a body with fields is refused.',
    params,
    answer: ANSWER,
    output: Webhook,
    errors: ['events_expired'],
    act: {
      event: 'webhook.resumed',
      what: ({ id }) => ({ webhookId: id }),
      before,
      after: actFields,
    },
    run: async (caller, { id }, { webhooks }) => toShown(await webhooks.resume(caller, id)),
  }),

  operation({
    id: 'replayWebhook',
    method: 'POST',
    path: '/api/webhooks/:id/replay',
    right: 'operate',
    account,
    tag,
    summary: 'Move the position of a webhook',
    description:
      'Moves the position back, to post events again under the same ids, or forward, to skip events. Give either `after` or ' +
      '`since`. A paused webhook stays paused.',
    params,
    body: ReplayBody,
    answer: ANSWER,
    output: Webhook,
    errors: ['events_expired'],
    act: {
      event: 'webhook.replayed',
      // It names no position, or two: `run` refuses it.
      unless: ({ after, since }) => (after === undefined) === (since === undefined),
      what: ({ id, ...start }) => ({ webhookId: id, start }),
      before,
      after: actFields,
    },
    async run(_caller, { id, after, since }, { webhooks }) {
      if (after !== undefined && since !== undefined) throw invalidRequest('repeated', { field: 'after' });
      if (after !== undefined) return toShown(await webhooks.replay(id, { after }));
      if (since !== undefined) return toShown(await webhooks.replay(id, { since }));
      throw invalidRequest('missing', { field: 'after' });
    },
  }),

  operation({
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: '/api/webhooks/:id/rotate-secret',
    right: 'admin',
    account,
    tag,
    summary: 'Rotate the secret of a webhook',
    description:
      'Requests carry a signature for each valid secret, so that the endpoint can switch at any time. A secret older than ' +
      'the previous one becomes invalid at once.',
    params,
    body: RotateBody,
    bodyOptional: true,
    answer: 'The new secret.',
    output: WebhookWithSecret,
    errors: ['busy'],
    act: {
      event: 'webhook.secret_rotated',
      what: ({ id }) => ({ webhookId: id }),
      after: ({ webhook }) => ({ oldSecretUntil: webhook.oldSecretUntil }),
    },
    async run(_caller, { id, oldValidHours }, { webhooks }) {
      const made = await webhooks.rotateSecret(id, oldValidHours * HOUR_MS);
      return { ...made, webhook: toShown(made.webhook) };
    },
  }),

  operation({
    id: 'testWebhook',
    method: 'POST',
    path: '/api/webhooks/:id/test',
    right: 'operate',
    account,
    tag,
    summary: 'Send a test event to a webhook',
    description:
      'Posts one event of the type `webhook.test`, even while the webhook is paused. The response contains the result. Needs ' +
      'no body; a body with fields is refused.',
    params,
    atOnce: MAX_TESTS,
    answer: 'The result.',
    output: WebhookDelivery,
    errors: ['webhook_secret_unreadable', 'busy'],
    act: {
      event: 'webhook.tested',
      what: ({ id }) => ({ webhookId: id }),
      after: ({ outcome, status }) => ({ outcome, status }),
    },
    run: async (_caller, { id }, { webhooks }, signal) => toShownDelivery(await webhooks.test(id, signal)),
  }),

  operation({
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: '/api/webhooks/:id/deliveries',
    right: 'operate',
    account,
    tag,
    summary: 'List deliveries of a webhook',
    description: 'All attempts, newest first, kept as long as events.',
    params,
    query: { outcome: { ...Outcome, description: 'Only these.' }, ...PAGE_PARAMETERS },
    answer: 'One page.',
    output: pageSchema('WebhookDeliveries', 'deliveries', WebhookDelivery),
    async run(_caller, { id, outcome = null, limit, cursor = null }, { webhooks }) {
      const page = await webhooks.deliveries(id, { outcome, limit, cursor });
      return { ...page, deliveries: page.deliveries.map(toShownDelivery) };
    },
  }),
];

/** Only the fields that are given. */
function toSettings({ historical, ...others }: Value<typeof ChangeBody>): Partial<WebhookRequestSettings> {
  return { ...others, ...(historical === undefined ? {} : { isHistorical: historical }) };
}

function toShown({ revision, ...webhook }: WebhookView): Value<typeof Webhook> {
  const { pause } = webhook;
  const failed = webhook.beyond.failed.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  const [oldest] = failed.toSorted((a, b) => a.since.getTime() - b.since.getTime());
  return {
    ...webhook,
    historical: webhook.isHistorical,
    state: pause === null ? 'active' : 'paused',
    pausedAt: pause?.since ?? null,
    pauseReason: pause?.reason ?? null,
    pauseDetail: pause?.detail ?? null,
    position: formatEventId(webhook.position),
    failingSince: oldest?.since ?? null,
    nextAttemptAt: pause === null ? (failed[0]?.dueAt ?? null) : null,
    version: revision,
  };
}

function toShownDelivery(delivery: Delivery): Value<typeof WebhookDelivery> {
  return { ...delivery, eventType: delivery.type, durationMs: Math.round(delivery.durationMs) };
}

/** Not the whole address: many contain a token in their path. */
const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

function actFields(webhook: Value<typeof Webhook>): ActFields {
  const { id, url, state, position, headerNames, maxInFlight, payload } = webhook;
  return { id, host: hostOf(url), state, position, headerNames, maxInFlight, payload };
}
