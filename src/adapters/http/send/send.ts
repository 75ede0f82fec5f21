/**
 * POST /api/send: sends one email and records it.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { SendDryRun } from './dry-run.ts';
import { CHECKED_SEND_RESPONSES, SEND_ERRORS, SendHeaders } from './send-answer.ts';
import { readSendBody, SendBody } from './send-body.ts';
import type { SendInput } from './send-input.ts';

export function registerSendRoutes(app: HttpServer, { applicationFor }: HttpContext, input: SendInput): void {
  app.post(
    '/api/send',
    {
      // The body is read as a stream and checked by readSendBody; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'sendEmail',
        right: 'send',
        tags: ['Sending'],
        summary: 'Send one email and record it',
        description:
          'Unknown fields are refused. null means absent. `thread_id` decides the thread, else a known `in_reply_to`, else a new ' +
          'thread is created. After 207 the email is sent and must not be sent again. With an `Idempotency-Key` a request can be ' +
          'repeated without sending twice.',
        querystring: SendDryRun,
        headers: SendHeaders,
        body: SendBody,
        response: { ...CHECKED_SEND_RESPONSES, ...errorResponses(...SEND_ERRORS) },
      },
    },
    (request, reply) =>
      input.answer(request, reply, {
        read: readSendBody,
        send: (send, folder) => applicationFor(request).sendMessage(send, folder),
        sendOnce: (key, send, folder) => applicationFor(request).sendOnce(key, send, folder),
        check: (send, folder) => applicationFor(request).checkSend(send, folder),
      }),
  );
}
