/** DELETE /api/emails/{id} and /api/threads/{id}. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { EmailParams, jsonResponse, record, ThreadParams, Timestamp, Uuid } from '../schemas/schemas.ts';

const DeletedEmails = record('DeletedEmails', {
  id: Uuid,
  emails: { type: 'integer', description: 'How many emails were deleted.' },
  deleted_at: Timestamp,
});

export function registerDeletionRoutes(app: HttpServer, { operationsFor, limits, clock }: HttpContext): void {
  app.delete(
    '/api/emails/:id',
    {
      schema: {
        right: 'operate',
        operationId: 'deleteEmail',
        tags: ['Emails'],
        summary: 'Delete an email for ever',
        description:
          'With its files, variants, deliveries and reports, and with what only it taught about customers. The event ' +
          '`email.deleted` has identifiers alone. The same email does not come back from a mailbox, a mail server or an ' +
          'import. What is still being sent, or may have been, is refused: cancel or resolve it first. Needs no body; ' +
          'fields of one are refused.',
        params: EmailParams,
        response: {
          200: jsonResponse('Deleted.', DeletedEmails),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'email_not_found',
            'not_deletable',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      await operationsFor(request).deleteEmail(id);
      return { id, emails: 1, deleted_at: clock().toISOString() };
    },
  );

  app.delete(
    '/api/threads/:threadId',
    {
      schema: {
        right: 'operate',
        operationId: 'deleteThread',
        tags: ['Threads'],
        summary: 'Delete a thread with all its emails, for ever',
        description:
          'As each of its emails would be, some at a time. When the request is cut off, some may be left: repeat it. ' +
          'While one of its emails is being sent, or may have been, all is refused. Needs no body; fields of one are ' +
          'refused.',
        params: ThreadParams,
        response: {
          200: jsonResponse('Deleted.', DeletedEmails),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'thread_not_found',
            'not_deletable',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.threadId.toLowerCase();
      const emails = await operationsFor(request).deleteThread(id);
      return { id, emails, deleted_at: clock().toISOString() };
    },
  );
}
