/** Webhooks: POST and GET of /api/webhooks; GET, PATCH and DELETE of /api/webhooks/{id}. */
import type { XStatic } from 'typebox/schema';
import type { WebhookRequestSettings } from '../../../app/webhooks/use-cases.ts';
import { EVENT_TYPES } from '../../../core/event/event-types.ts';
import { ONE_LINE_PATTERN } from '../../../core/one-line.ts';
import { MAX_HEADERS, MAX_HEADER_CHARS } from '../../../core/webhook/own-headers.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { EventId, EventTypeName } from '../events/events.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { NullableAccountId, PAGE_PARAMETERS, toPageRequest, PAGE_ERRORS } from '../schemas/page-schemas.ts';
import { jsonResponse, NullableUuid, record, Timestamp, Uuid } from '../schemas/schemas.ts';
import { MaxInFlight, Payload, toWebhookJson, Webhook, Webhooks, WebhookWithSecret } from './webhook-view.ts';

const MAX_URL_CHARS = 2000;
const MAX_DESCRIPTION_CHARS = 500;
/** All header fields at their maximum length, and some more. */
export const MAX_WEBHOOK_BYTES = 128 * 1024;

export const WebhookParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The webhook.' } },
} as const;

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
  account_id: {
    ...NullableAccountId,
    description: 'Only of this account.',
  },
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

const WebhooksQuery = { type: 'object', additionalProperties: false, properties: PAGE_PARAMETERS } as const;
const Deleted = record('DeletedWebhook', { id: Uuid, deleted_at: Timestamp });

const SETTING_ERRORS = [
  ...JSON_BODY_ERRORS,
  'invalid_uuid',
  'invalid_webhook_url',
  'webhook_address_refused',
  'invalid_webhook_header',
  'unknown_account',
  'unauthorized',
  'busy',
  'database_unavailable',
] as const;

export function registerWebhookRoutes(app: HttpServer, context: HttpContext): void {
  const { applicationFor, operationsFor, limits, clock } = context;

  app.post(
    '/api/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        right: 'admin',
        tags: ['Webhooks'],
        summary: 'Create a webhook',
        description:
          'Posts each event that matches the filters at least once, with retries for three days. The ' +
          '[guide](/api/docs/webhooks) shows how to verify the signature.',
        body: CreateBody,
        response: {
          200: jsonResponse('Created, with its secret.', WebhookWithSecret),
          ...errorResponses(...SETTING_ERRORS, 'events_expired', 'too_many_webhooks'),
        },
      },
      preValidation: smallJsonBody(limits, MAX_WEBHOOK_BYTES),
    },
    async (request) => {
      const { url, after, ...others } = request.body;
      const { webhook, secret } = await operationsFor(request).createWebhook({
        description: '',
        types: null,
        accountId: null,
        customerId: null,
        isHistorical: null,
        payload: 'full',
        maxInFlight: 1,
        headers: {},
        ...toSettings(others),
        url,
        after: after ?? null,
      });
      return { webhook: toWebhookJson(webhook), secret };
    },
  );

  app.get(
    '/api/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'List webhooks',
        description: 'The newest first.',
        querystring: WebhooksQuery,
        response: {
          200: jsonResponse('One page.', Webhooks),
          ...errorResponses(...PAGE_ERRORS),
        },
      },
    },
    async (request) => {
      const { webhooks, nextCursor } = await applicationFor(request).listWebhooks(
        toPageRequest(request.query),
      );
      return { webhooks: webhooks.map(toWebhookJson), next_cursor: nextCursor };
    },
  );

  app.get(
    '/api/webhooks/:id',
    {
      schema: {
        operationId: 'getWebhook',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'Read one webhook',
        description: 'Settings, position in the feed, and why it is paused.',
        params: WebhookParams,
        response: {
          200: jsonResponse('The webhook.', Webhook),
          ...errorResponses('invalid_uuid', 'unauthorized', 'webhook_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) =>
      toWebhookJson(await applicationFor(request).readWebhook(request.params.id.toLowerCase())),
  );

  app.patch(
    '/api/webhooks/:id',
    {
      schema: {
        operationId: 'changeWebhook',
        right: 'admin',
        tags: ['Webhooks'],
        summary: 'Change a webhook',
        description:
          'Absent fields stay unchanged. `headers` are replaced as a whole. Requests under way still go to the old URL.',
        params: WebhookParams,
        body: ChangeBody,
        response: {
          200: jsonResponse('As it is now.', Webhook),
          ...errorResponses(...SETTING_ERRORS, 'webhook_not_found', 'webhook_secret_unreadable'),
        },
      },
      preValidation: smallJsonBody(limits, MAX_WEBHOOK_BYTES),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      return toWebhookJson(await operationsFor(request).changeWebhook(id, toSettings(request.body)));
    },
  );

  app.delete(
    '/api/webhooks/:id',
    {
      schema: {
        operationId: 'deleteWebhook',
        right: 'admin',
        tags: ['Webhooks'],
        summary: 'Delete a webhook',
        description: 'Stops all requests. Needs no body; a body with fields is refused.',
        params: WebhookParams,
        response: {
          200: jsonResponse('Deleted.', Deleted),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'webhook_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      await operationsFor(request).deleteWebhook(id);
      return { id, deleted_at: clock().toISOString() };
    },
  );
}

/** Only the fields in the body. */
function toSettings(body: XStatic<typeof ChangeBody>): Partial<WebhookRequestSettings> {
  const {
    account_id: accountId,
    customer_id: customerId,
    max_in_flight: maxInFlight,
    historical,
    ...others
  } = body;
  return {
    ...others,
    ...(accountId === undefined ? {} : { accountId }),
    ...(customerId === undefined ? {} : { customerId: customerId?.toLowerCase() ?? null }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(historical === undefined ? {} : { isHistorical: historical }),
  } as Partial<WebhookRequestSettings>;
}
