/**
 * GET /api/emails/{id}: all fields of one email. GET /api/emails/{id}/raw: the message itself. The same below /variants/{variantId} for
 * messages with its identity and different content.
 */
import type { FastifyReply } from 'fastify';
import type { RawMessage } from '../../../app/emails/use-cases.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { toVariantDetailJson } from './email-view.ts';
import { FILE_HEADERS, sendFile } from '../answers/file-response.ts';
import { EmailDetailSchema, toEmailDetailJson } from './email-detail.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { EmailParams, jsonResponse, Uuid } from '../../../platform/schemas/schemas.ts';
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

export function registerEmailRoutes(app: HttpServer, context: HttpContext): void {
  const { applicationFor, ownSenders } = context;
  app.get(
    '/api/emails/:id',
    {
      schema: {
        operationId: 'getEmail',
        right: 'read',
        tags: ['Emails'],
        summary: 'Read an email',
        description: 'With HTML body, all recipients, headers used for threading and the state of delivery.',
        params: EmailParams,
        response: {
          200: jsonResponse('The email.', EmailDetailSchema),
          ...errorResponses('invalid_uuid', 'unauthorized', 'email_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) =>
      toEmailDetailJson(await applicationFor(request).readEmail(request.params.id.toLowerCase()), ownSenders),
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/emails/:id/raw',
    schema: {
      operationId: 'getRawEmail',
      right: 'read',
      tags: ['Emails'],
      summary: 'Download the raw message',
      description: 'The bytes as they were sent or received, RFC 5322.',
      params: EmailParams,
      response: {
        200: RawMessageSchema,
        ...errorResponses(
          'invalid_uuid',
          'unauthorized',
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
      return sendRaw(reply, context, id, await applicationFor(request).readRaw(id));
    },
  });

  app.get(
    '/api/emails/:id/variants/:variantId',
    {
      schema: {
        operationId: 'getVariant',
        right: 'read',
        tags: ['Emails'],
        summary: 'Read a variant of an email',
        description:
          'A message with the Message-ID, Date, From and subject of the email, and another content.',
        params: VariantParams,
        response: {
          200: jsonResponse('The variant.', VariantDetailSchema),
          ...errorResponses('invalid_uuid', 'unauthorized', 'variant_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) => {
      const { id, variantId } = request.params;
      return toVariantDetailJson(
        await applicationFor(request).readVariant(id.toLowerCase(), variantId.toLowerCase()),
      );
    },
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/emails/:id/variants/:variantId/raw',
    schema: {
      operationId: 'getRawVariant',
      right: 'read',
      tags: ['Emails'],
      summary: 'Download the raw message of a variant',
      description: 'The bytes as they were received, RFC 5322.',
      params: VariantParams,
      response: {
        200: RawMessageSchema,
        ...errorResponses(
          'invalid_uuid',
          'unauthorized',
          'variant_not_found',
          'content_missing',
          'database_unavailable',
          'storage_unavailable',
          'storage_mismatch',
        ),
      },
    },
    handler: async (request, reply) => {
      const id = request.params.variantId.toLowerCase();
      const raw = await applicationFor(request).readVariantRaw(request.params.id.toLowerCase(), id);
      return sendRaw(reply, context, id, raw);
    },
  });
}

function sendRaw(reply: FastifyReply, context: HttpContext, id: string, raw: RawMessage): FastifyReply {
  reply.header('content-type', 'message/rfc822');
  reply.header('accept-ranges', 'none');
  return sendFile(reply, context, { ...raw, filename: `${id}.eml` });
}
