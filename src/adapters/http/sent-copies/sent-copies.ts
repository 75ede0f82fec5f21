/** Copies of sent emails in Sent mailboxes: POST /api/emails/{id}/sent-copy/retry. */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody } from '../body/json-body.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { EmailParams, jsonResponse } from '../../../platform/schemas/schemas.ts';
import { SentCopy, toSentCopyJson } from './sent-copy-schema.ts';

export function registerSentCopyRoutes(app: HttpServer, { operationsFor, limits }: HttpContext): void {
  app.post(
    '/api/emails/:id/sent-copy/retry',
    {
      schema: {
        operationId: 'retrySentCopy',
        // The answer shows what was stored before.
        right: ['read', 'operate'],
        tags: ['Mailboxes'],
        summary: 'Retry the copy in the Sent mailbox now',
        description:
          'For a copy that failed or awaits its next attempt; the time to give up starts anew. The mailbox is searched first, so ' +
          'it never gets a second copy. Needs no body; a body with fields is refused.',
        params: EmailParams,
        response: {
          200: jsonResponse('Scheduled for an immediate attempt.', SentCopy),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'invalid_uuid',
            'unauthorized',
            'email_not_found',
            'no_sent_copy_to_retry',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) =>
      toSentCopyJson(await operationsFor(request).retrySentCopy(request.params.id.toLowerCase())),
  );
}
