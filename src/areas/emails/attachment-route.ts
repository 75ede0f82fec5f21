/** GET /api/attachments/{id}: the bytes of one attachment. */
import { routed, type EmailDeps } from './routed.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { StoredAttachment } from '../../platform/files/stored-attachment.ts';
import {
  answerStoredFile,
  STORED_FILE_CONDITIONS,
  STORED_FILE_ERRORS,
  STORED_FILE_QUERY,
  STORED_FILE_RESPONSES,
} from '../../platform/http/answers/stored-file.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { Uuid } from '../../platform/schemas/schemas.ts';

const AttachmentParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The attachment.' } },
} as const;

const getAttachment = routed<{ readonly id: string }, StoredAttachment>()({
  id: 'getAttachment',
  method: 'GET',
  path: '/api/attachments/:id',
  right: 'read',
  tag: 'Emails',
  summary: 'Download an attachment',
  description:
    'With the content type and the file name given by the sender. The ETag is the SHA-256 of the content; an attachment ' +
    'never changes. Multiple ranges are not supported: the whole file is sent.',
  account: { of: ({ id }, { accountOf }) => accountOf.attachment(id), missing: 'attachment_not_found' },
});

export function registerAttachmentRoutes(app: HttpServer, context: HttpContext<EmailDeps>): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: getAttachment.path,
    schema: {
      ...schemaOfOperation(getAttachment),
      params: AttachmentParams,
      querystring: STORED_FILE_QUERY,
      headers: STORED_FILE_CONDITIONS,
      response: {
        ...STORED_FILE_RESPONSES,
        ...errorResponses('attachment_not_found', ...STORED_FILE_ERRORS),
      },
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const asked = { id: id.toLowerCase() };
      const attachment = await context.perform(request, getAttachment, asked, (input, emails) =>
        emails.readAttachment(input.id),
      );
      return answerStoredFile(request, reply, context, attachment);
    },
  });
}
