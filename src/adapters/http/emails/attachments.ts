/** GET /api/attachments/{id}: the bytes of one attachment. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import {
  answerStoredFile,
  STORED_FILE_CONDITIONS,
  STORED_FILE_ERRORS,
  STORED_FILE_QUERY,
  STORED_FILE_RESPONSES,
} from '../answers/stored-file.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { Uuid } from '../../../platform/schemas/schemas.ts';

const AttachmentParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The attachment.' } },
} as const;

export function registerAttachmentRoutes(app: HttpServer, context: HttpContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/attachments/:id',
    schema: {
      operationId: 'getAttachment',
      right: 'read',
      tags: ['Emails'],
      summary: 'Download an attachment',
      description:
        'With the content type and the file name given by the sender. The ETag is the SHA-256 of the content; an attachment ' +
        'never changes. Multiple ranges are not supported: the whole file is sent.',
      params: AttachmentParams,
      querystring: STORED_FILE_QUERY,
      headers: STORED_FILE_CONDITIONS,
      response: {
        ...STORED_FILE_RESPONSES,
        ...errorResponses('attachment_not_found', ...STORED_FILE_ERRORS),
      },
    },
    handler: async (request, reply) => {
      const attachment = await context
        .applicationFor(request)
        .readAttachment(request.params.id.toLowerCase());
      return answerStoredFile(request, reply, context, attachment);
    },
  });
}
