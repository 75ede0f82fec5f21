/** DELETE /api/emails/{id} and /api/threads/{id}. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { DryRun } from '../schemas/dry-run.ts';
import { DELETION_ERRORS, errorResponses } from '../schemas/error-schemas.ts';
import {
  EmailParams,
  jsonResponse,
  NullableTimestamp,
  record,
  ThreadParams,
  Uuid,
} from '../schemas/schemas.ts';

const DeletionDryRun = DryRun(
  'True: nothing is deleted; the answer tells how many emails would be, or why it is refused.',
);

const DeletedEmails = record('DeletedEmails', {
  id: Uuid,
  emails: { type: 'integer', description: 'How many emails were deleted.' },
  deleted_at: { ...NullableTimestamp, description: 'null with `dry_run`: nothing was deleted.' },
});

export function registerDeletionRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits, clock }: HttpContext,
): void {
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
        querystring: DeletionDryRun,
        response: {
          200: jsonResponse('Deleted.', DeletedEmails),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'email_not_found',
            'not_deletable',
            ...DELETION_ERRORS,
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.id.toLowerCase();
      if (request.query.dry_run === true) {
        await applicationFor(request).checkDeleteEmail(id);
        return { id, emails: 1, deleted_at: null };
      }
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
        querystring: DeletionDryRun,
        response: {
          200: jsonResponse('Deleted.', DeletedEmails),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'thread_not_found',
            'not_deletable',
            ...DELETION_ERRORS,
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const id = request.params.threadId.toLowerCase();
      if (request.query.dry_run === true)
        return { id, emails: await applicationFor(request).checkDeleteThread(id), deleted_at: null };
      const emails = await operationsFor(request).deleteThread(id);
      return { id, emails, deleted_at: clock().toISOString() };
    },
  );
}
