/** DELETE /api/emails/{id} and /api/threads/{id}. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { DryRun } from '../../../platform/schemas/dry-run.ts';
import { DELETION_ERRORS, errorResponses } from '../../../platform/schemas/error-schemas.ts';
import {
  EmailParams,
  jsonResponse,
  NullableTimestamp,
  record,
  ThreadParams,
  Uuid,
} from '../../../platform/schemas/schemas.ts';

const DeletionDryRun = DryRun(
  'True: nothing is deleted; the response contains the number of emails that would be deleted, or the error.',
);

const DeletedEmails = record('DeletedEmails', {
  id: Uuid,
  emails: { type: 'integer', description: 'Number of deleted emails.' },
  deleted_at: { ...NullableTimestamp, description: 'Time of the deletion; null with `dry_run`.' },
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
        summary: 'Delete an email permanently',
        description:
          'Deletes the email with its files, variants, deliveries and reports, and customer addresses learned only from it. The ' +
          'event `email.deleted` contains only identifiers. The same email is not recorded again from a mailbox, a mail server ' +
          'or an import. An email that is being sent or whose outcome is unknown is refused: cancel or resolve it first. Needs ' +
          'no body; a body with fields is refused.',
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
        summary: 'Delete a thread with all its emails permanently',
        description:
          'Deletes each email of the thread, in batches. When the request is cut off, some emails may be left: repeat it. ' +
          'Refused as a whole while an email of the thread is being sent or its outcome is unknown. Needs no body; a body with ' +
          'fields is refused.',
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
