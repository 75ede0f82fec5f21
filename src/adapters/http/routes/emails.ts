/**
 * GET /api/emails/{id}: everything known about one email. GET /api/emails/{id}/raw: the message itself.
 */
import type { HttpContext, HttpServer } from '../context.ts';
import { toEmailDetailJson } from '../email-view.ts';
import { sendFile } from '../file-response.ts';
import { EmailDetail } from '../email-detail-schema.ts';
import { errorResponses, Uuid } from '../schemas.ts';

const EmailParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The email.' } },
} as const;

export function registerEmailRoutes(app: HttpServer, context: HttpContext): void {
  const { application } = context;
  app.get(
    '/api/emails/:id',
    {
      schema: {
        operationId: 'getEmail',
        tags: ['Emails'],
        summary: 'Read everything known about one email',
        description: 'With HTML body, all recipients, headers used for threading and the state of delivery.',
        params: EmailParams,
        response: {
          200: { description: 'The email.', ...EmailDetail },
          ...errorResponses('invalid_uuid', 'unauthorized', 'email_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) => toEmailDetailJson(await application.readEmail(request.params.id.toLowerCase())),
  );

  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/emails/:id/raw',
    schema: {
      operationId: 'getRawEmail',
      tags: ['Emails'],
      summary: 'Download the raw message',
      description: 'The bytes as they were sent or received, RFC 5322.',
      params: EmailParams,
      response: {
        200: {
          description: 'The message.',
          content: { 'message/rfc822': { schema: { type: 'string', format: 'binary' } } },
        },
        ...errorResponses(
          'invalid_uuid',
          'unauthorized',
          'email_not_found',
          'content_missing',
          'database_unavailable',
          'storage_unavailable',
        ),
      },
    },
    handler: async (request, reply) => {
      const id = request.params.id.toLowerCase();
      const { sizeBytes, stream } = await application.readRaw(id);
      reply.header('content-type', 'message/rfc822');
      reply.header('accept-ranges', 'none');
      return sendFile(reply, context.logger, { filename: `${id}.eml`, sizeBytes, stream });
    },
  });
}
