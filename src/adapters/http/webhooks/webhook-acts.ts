/** The actions of an operator on a webhook: /api/webhooks/{id}/pause, /resume, /replay, /rotate-secret, /test and /deliveries. */
import { invalidRequest } from '../../../core/errors.ts';
import { keyIdOf } from '../connections/auth.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { RequestSlots } from '../body/request-slots.ts';
import { EventId } from '../events/events.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { PAGE_PARAMETERS, toPageRequest, PAGE_ERRORS } from '../schemas/page-schemas.ts';
import { jsonResponse, Timestamp, toMoment } from '../schemas/schemas.ts';
import {
  Outcome,
  toDeliveryJson,
  toWebhookJson,
  Webhook,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookWithSecret,
} from './webhook-view.ts';
import { WebhookParams } from './webhooks.ts';

const HOUR_MS = 3_600_000;
/** A week; for an endpoint that needs longer the secret is rotated again. */
const MAX_OLD_HOURS = 168;
const DEFAULT_OLD_HOURS = 24;
/** Tests under way at the same moment; each waits for its endpoint. */
const MAX_TESTS = 10;

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
      default: DEFAULT_OLD_HOURS,
      description: 'Hours for which requests are also signed with the old secret.',
    },
  },
} as const;

const DeliveriesQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { outcome: { ...Outcome, description: 'Only these.' }, ...PAGE_PARAMETERS },
} as const;

const ACT_ERRORS = [
  ...JSON_BODY_ERRORS,
  'invalid_uuid',
  'unauthorized',
  'webhook_not_found',
  'database_unavailable',
] as const;

export function registerWebhookActRoutes(app: HttpServer, context: HttpContext): void {
  const { applicationFor, operationsFor, limits, stopping } = context;
  const tests = new RequestSlots(MAX_TESTS);

  app.post(
    '/api/webhooks/:id/pause',
    {
      schema: {
        operationId: 'pauseWebhook',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'Pause a webhook',
        description:
          'Stops requests until the webhook is resumed; then all events since are posted. Needs no body; a body with fields is refused.',
        params: WebhookParams,
        response: { 200: jsonResponse('Paused.', Webhook), ...errorResponses(...ACT_ERRORS) },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) =>
      toWebhookJson(await operationsFor(request).pauseWebhook(request.params.id.toLowerCase())),
  );

  app.post(
    '/api/webhooks/:id/resume',
    {
      schema: {
        operationId: 'resumeWebhook',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'Resume a webhook',
        description:
          'Continues where the webhook stopped and retries waiting events at once. 410 when events that were not posted are no ' +
          'longer kept: choose a position by replay. Needs no body; a body with fields is refused.',
        params: WebhookParams,
        response: {
          200: jsonResponse('Active.', Webhook),
          ...errorResponses(...ACT_ERRORS, 'events_expired'),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) =>
      toWebhookJson(await operationsFor(request).resumeWebhook(request.params.id.toLowerCase())),
  );

  app.post(
    '/api/webhooks/:id/replay',
    {
      schema: {
        operationId: 'replayWebhook',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'Move the position of a webhook',
        description:
          'Moves the position back, to post events again under the same ids, or forward, to skip events. Give either `after` or ' +
          '`since`. A paused webhook stays paused.',
        params: WebhookParams,
        body: ReplayBody,
        response: {
          200: jsonResponse('Moved.', Webhook),
          ...errorResponses(...ACT_ERRORS, 'events_expired'),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request) => {
      const { after, since } = request.body;
      if ((after === undefined) === (since === undefined)) {
        throw invalidRequest(after === undefined ? 'missing' : 'repeated', { field: 'after' });
      }
      const start = after === undefined ? { since: toMoment('since', since ?? '') } : { after };
      const id = request.params.id.toLowerCase();
      return toWebhookJson(await operationsFor(request).replayWebhook(id, start));
    },
  );

  app.post(
    '/api/webhooks/:id/rotate-secret',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        right: 'admin',
        tags: ['Webhooks'],
        summary: 'Rotate the secret of a webhook',
        description:
          'Requests carry a signature for each valid secret, so that the endpoint can switch at any time. A secret older than ' +
          'the previous one becomes invalid at once.',
        params: WebhookParams,
        body: RotateBody,
        response: {
          200: jsonResponse('The new secret.', WebhookWithSecret),
          ...errorResponses(...ACT_ERRORS, 'busy'),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      const hours = request.body.old_valid_hours ?? DEFAULT_OLD_HOURS;
      const { webhook, secret } = await operationsFor(request).rotateWebhookSecret(id, hours * HOUR_MS);
      return { webhook: toWebhookJson(webhook), secret };
    },
  );

  app.post(
    '/api/webhooks/:id/test',
    {
      schema: {
        operationId: 'testWebhook',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'Send a test event to a webhook',
        description:
          'Posts one event of the type `webhook.test`, even while the webhook is paused. The response contains the result. Needs ' +
          'no body; a body with fields is refused.',
        params: WebhookParams,
        response: {
          200: jsonResponse('The result.', WebhookDelivery),
          ...errorResponses(...ACT_ERRORS, 'webhook_secret_unreadable', 'busy'),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request, reply) => {
      const slot = tests.reserve(keyIdOf(request));
      slot.take();
      reply.raw.once('close', slot.release);
      const id = request.params.id.toLowerCase();
      return toDeliveryJson(await operationsFor(request).testWebhook(id, stopping));
    },
  );

  app.get(
    '/api/webhooks/:id/deliveries',
    {
      schema: {
        operationId: 'listWebhookDeliveries',
        right: 'operate',
        tags: ['Webhooks'],
        summary: 'List deliveries of a webhook',
        description: 'All attempts, newest first, kept as long as events.',
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: {
          200: jsonResponse('One page.', WebhookDeliveries),
          ...errorResponses(...PAGE_ERRORS, 'invalid_uuid', 'webhook_not_found'),
        },
      },
    },
    async (request) => {
      const { deliveries, nextCursor } = await applicationFor(request).listWebhookDeliveries({
        webhookId: request.params.id.toLowerCase(),
        outcome: request.query.outcome ?? null,
        ...toPageRequest(request.query),
      });
      return { deliveries: deliveries.map(toDeliveryJson), next_cursor: nextCursor };
    },
  );
}
