/**
 * POST /api/send: sends one email and records it.
 */
import { routed, type SendDeps } from './routed.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import type { FastifyRequest } from 'fastify';
import { askedBy, ownKey, ownSend } from './own-send.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { CallersSends } from './send-batch.ts';
import type {
  AskedSend,
  CheckedEmail,
  SendOnceResult,
  SendRequest,
  SendResult,
  SendUseCases,
} from './use-cases.ts';
import { callerOf } from '../../platform/http/connections/auth.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { SendDryRun } from './dry-run.ts';
import { CHECKED_SEND_RESPONSES, SEND_ERRORS, SendHeaders } from './send-answer.ts';
import { readSendBody, SendBody } from './send-body.ts';
import type { SendInput } from './send-input.ts';

type SendEnd = SendResult | SendOnceResult | CheckedEmail;

const sendEmail = routed<SendRequest, SendEnd>()({
  id: 'sendEmail',
  method: 'POST',
  path: '/api/send',
  right: 'send',
  tag: 'Sending',
  summary: 'Send one email and record it',
  description:
    'Unknown fields are refused. null means absent. `thread_id` decides the thread, else a known `in_reply_to`, else a new ' +
    'thread is created. After 207 the email is sent and must not be sent again. With an `Idempotency-Key` a request can be ' +
    'repeated without sending twice.',
  account: { decide: ownSend },
});

/** The sends of the caller of a request. */
export function sendsOf(perform: HttpContext<SendDeps>['perform'], request: FastifyRequest): CallersSends {
  const caller = callerOf(request);
  const ask = <Result extends SendEnd>(
    asked: AskedSend,
    folder: SpoolFolder,
    work: (own: SendRequest, sends: SendUseCases) => Promise<Result>,
  ) => perform(request, sendEmail, { ...asked, ...askedBy(caller) }, work, folder);
  return {
    send: (asked, folder) => ask(asked, folder, (own, sends) => sends.sendMessage(own, folder)),
    sendOnce: (key, asked, folder) =>
      ask(asked, folder, (own, sends) => sends.sendOnce(ownKey(key, caller), own, folder)),
    check: (asked, folder) => ask(asked, folder, (own, sends) => sends.checkSend(own, folder)),
  };
}

export function registerSendRoutes(
  app: HttpServer,
  { perform }: HttpContext<SendDeps>,
  input: SendInput,
): void {
  app.post(
    sendEmail.path,
    {
      // The body is read as a stream and checked by readSendBody; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        ...schemaOfOperation(sendEmail),
        querystring: SendDryRun,
        headers: SendHeaders,
        body: SendBody,
        response: { ...CHECKED_SEND_RESPONSES, ...errorResponses(...SEND_ERRORS) },
      },
    },
    (request, reply) => input.answer(request, reply, { read: readSendBody, ...sendsOf(perform, request) }),
  );
}
