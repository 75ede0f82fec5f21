/**
 * GET /api/thread/{threadId}: all emails of one thread. The path that callers use most; see bench/.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { Email, jsonResponse, record, ThreadParams } from '../schemas/schemas.ts';

const ThreadResult = record('Thread', { emails: { type: 'array', items: Email } });

export function registerThreadRoutes(app: HttpServer, { application, sendEmails }: HttpContext): void {
  app.get(
    '/api/thread/:threadId',
    {
      schema: {
        operationId: 'getThread',
        tags: ['Emails'],
        summary: 'Read all emails of a thread',
        description:
          'Both directions, with attachment records, ordered by date and then by id. A large thread is sent while it is read.',
        params: ThreadParams,
        response: {
          200: jsonResponse('The emails of the thread.', ThreadResult),
          ...errorResponses(
            'invalid_uuid',
            'unauthorized',
            'thread_not_found',
            'busy',
            'database_unavailable',
          ),
        },
      },
    },
    async (request, reply) =>
      sendEmails(reply, await application.readThread(request.params.threadId.toLowerCase())),
  );
}
