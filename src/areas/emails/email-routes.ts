/**
 * GET /api/emails/{id}: all fields of one email. GET /api/emails/{id}/raw: the message itself. The same below /variants/{variantId} for
 * messages with its identity and different content.
 */
import { routed, type EmailDeps } from './routed.ts';
import type { FastifyReply } from 'fastify';
import type { RawMessage } from './use-cases.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_EMAIL } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { EmailDetail } from './email-ports.ts';
import type { VariantDetail } from './variant-view.ts';
import { toVariantDetailJson } from './email-view.ts';
import { FILE_HEADERS, sendFile } from '../../platform/http/answers/file-response.ts';
import { EmailDetailSchema, toEmailDetailJson } from './email-detail.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { EmailParams, jsonResponse, Uuid } from '../../platform/schemas/schemas.ts';
import { VariantDetailSchema } from './variant-schema.ts';

const VariantParams = {
  type: 'object',
  required: ['id', 'variantId'],
  properties: { ...EmailParams.properties, variantId: { ...Uuid, description: 'The variant.' } },
} as const;

const RawMessageSchema = {
  description: 'The message.',
  headers: FILE_HEADERS,
  content: { 'message/rfc822': { schema: { type: 'string', format: 'binary' } } },
} as const;

const OF_EMAIL_OF_VARIANT = { ...OF_EMAIL, missing: 'variant_not_found' } as const;

const getEmail = routed<{ readonly id: string }, EmailDetail>()({
  id: 'getEmail',
  method: 'GET',
  path: '/api/emails/:id',
  right: 'read',
  tag: 'Emails',
  summary: 'Read an email',
  description: 'With HTML body, all recipients, headers used for threading and the state of delivery.',
  account: OF_EMAIL,
});

const getRawEmail = routed<{ readonly id: string }, RawMessage>()({
  id: 'getRawEmail',
  method: 'GET',
  path: '/api/emails/:id/raw',
  right: 'read',
  tag: 'Emails',
  summary: 'Download the raw message',
  description: 'The bytes as they were sent or received, RFC 5322.',
  account: OF_EMAIL,
});

const getVariant = routed<{ readonly id: string; readonly variantId: string }, VariantDetail>()({
  id: 'getVariant',
  method: 'GET',
  path: '/api/emails/:id/variants/:variantId',
  right: 'read',
  tag: 'Emails',
  summary: 'Read a variant of an email',
  description: 'A message with the Message-ID, Date, From and subject of the email, and another content.',
  account: OF_EMAIL_OF_VARIANT,
});

const getRawVariant = routed<{ readonly id: string; readonly variantId: string }, RawMessage>()({
  id: 'getRawVariant',
  method: 'GET',
  path: '/api/emails/:id/variants/:variantId/raw',
  right: 'read',
  tag: 'Emails',
  summary: 'Download the raw message of a variant',
  description: 'The bytes as they were received, RFC 5322.',
  account: OF_EMAIL_OF_VARIANT,
});

export function registerEmailRoutes(app: HttpServer, context: HttpContext<EmailDeps>): void {
  const { perform, ownSenders } = context;
  app.get(
    getEmail.path,
    {
      schema: {
        ...schemaOfOperation(getEmail),
        params: EmailParams,
        response: {
          200: jsonResponse('The email.', EmailDetailSchema),
          ...errorResponses('invalid_uuid', 'invalid_credentials', 'email_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) =>
      toEmailDetailJson(
        await perform(request, getEmail, { id: request.params.id.toLowerCase() }, ({ id }, emails) =>
          emails.readEmail(id),
        ),
        ownSenders,
      ),
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: getRawEmail.path,
    schema: {
      ...schemaOfOperation(getRawEmail),
      params: EmailParams,
      response: {
        200: RawMessageSchema,
        ...errorResponses(
          'invalid_uuid',
          'invalid_credentials',
          'email_not_found',
          'content_missing',
          'database_unavailable',
          'storage_unavailable',
          'storage_mismatch',
        ),
      },
    },
    handler: async (request, reply) => {
      const id = request.params.id.toLowerCase();
      const raw = await perform(request, getRawEmail, { id }, (_, emails) => emails.readRaw(id));
      return sendRaw(reply, context, id, raw);
    },
  });

  app.get(
    getVariant.path,
    {
      schema: {
        ...schemaOfOperation(getVariant),
        params: VariantParams,
        response: {
          200: jsonResponse('The variant.', VariantDetailSchema),
          ...errorResponses(
            'invalid_uuid',
            'invalid_credentials',
            'variant_not_found',
            'database_unavailable',
          ),
        },
      },
    },
    async (request) => {
      const { id, variantId } = toVariantInput(request.params);
      return toVariantDetailJson(
        await perform(request, getVariant, { id, variantId }, (_, emails) =>
          emails.readVariant(id, variantId),
        ),
      );
    },
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: getRawVariant.path,
    schema: {
      ...schemaOfOperation(getRawVariant),
      params: VariantParams,
      response: {
        200: RawMessageSchema,
        ...errorResponses(
          'invalid_uuid',
          'invalid_credentials',
          'variant_not_found',
          'content_missing',
          'database_unavailable',
          'storage_unavailable',
          'storage_mismatch',
        ),
      },
    },
    handler: async (request, reply) => {
      const { id, variantId } = toVariantInput(request.params);
      const raw = await perform(request, getRawVariant, { id, variantId }, (_, emails) =>
        emails.readVariantRaw(id, variantId),
      );
      return sendRaw(reply, context, variantId, raw);
    },
  });
}

const toVariantInput = ({ id, variantId }: { readonly id: string; readonly variantId: string }) => ({
  id: id.toLowerCase(),
  variantId: variantId.toLowerCase(),
});

function sendRaw(
  reply: FastifyReply,
  context: HttpContext<EmailDeps>,
  id: string,
  raw: RawMessage,
): FastifyReply {
  reply.header('content-type', 'message/rfc822');
  reply.header('accept-ranges', 'none');
  return sendFile(reply, context, { ...raw, filename: `${id}.eml` });
}
