/**
 * POST /api/send: sends one email and records it.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { SendOutcome, SendRequest } from '../../../app/send/use-cases.ts';
import type { SpoolFolder } from '../../../app/files/file-ports.ts';
import { PARTIAL_TEXT, ServiceError } from '../../../core/errors.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { formatMessageId } from '../../../core/message/message-id.ts';
import {
  IdempotencyHeaders,
  readIdempotencyKey,
  REPLAYED_HEADER,
  ReplayedHeader,
} from './idempotency-key.ts';
import { refuseOtherMedia } from '../body/json-body.ts';
import { readJsonWithLongStrings } from '../body/json-long-strings.ts';
import { RequestSlots } from '../body/request-slots.ts';
import { prefersAsync } from './prefer.ts';
import { openBody } from '../body/open-body.ts';
import type { HttpLimits } from '../connections/limits.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { jsonResponse, MessageIdText, record, Uuid } from '../schemas/schemas.ts';
import { readSendBody, SendBody } from './send-body.ts';

const SentResult = record('Sent', {
  status: { type: 'string', const: 'sent' },
  id: { ...Uuid, description: 'The stored email.' },
  messageId: MessageIdText,
  threadId: { ...Uuid, description: 'The thread it was placed in.' },
});

const QueuedResult = record('Queued', {
  status: { type: 'string', const: 'queued' },
  id: { ...Uuid, description: 'The stored email; its state is at `GET /api/emails/{id}`.' },
  messageId: MessageIdText,
  threadId: { ...Uuid, description: 'The thread it was placed in.' },
});

const SendHeaders = {
  ...IdempotencyHeaders,
  properties: {
    ...IdempotencyHeaders.properties,
    Prefer: {
      type: 'string',
      description:
        '`respond-async` (RFC 7240): the email is only put into the queue, and the answer is 202 with the header ' +
        '`Preference-Applied`.',
    },
  },
} as const;

const QueuedHeaders = {
  ...ReplayedHeader,
  Location: { type: 'string', description: '`/api/emails/{id}` of the email.' },
  'Preference-Applied': {
    type: 'string',
    const: 'respond-async',
    description: 'When the request preferred it (RFC 7240 §3).',
  },
} as const;

const PartialResult = record('Partial', {
  status: { type: 'string', const: 'partial' },
  message: { type: 'string', description: 'German text: sent, but not stored yet.' },
  messageId: MessageIdText,
  error: { type: 'string', description: 'Why it was not stored.' },
});

export function registerSendRoutes(app: HttpServer, context: HttpContext): void {
  const { application, limits, logger, spool } = context;
  const slots = new RequestSlots(limits.maxLargeBodies);

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
          'Unknown fields are refused. null means absent. `thread_id` decides the thread, else a known ' +
          '`in_reply_to`, else a new thread begins. After a 207 the email is sent; it must not be sent again. With ' +
          'an `Idempotency-Key` a request may be repeated without sending twice.',
        headers: SendHeaders,
        body: SendBody,
        response: {
          200: jsonResponse('Sent and stored.', SentResult, ReplayedHeader),
          202: jsonResponse('Stored, and to be sent from the queue.', QueuedResult, QueuedHeaders),
          207: jsonResponse(
            'Sent, but not stored yet; it is stored automatically later.',
            PartialResult,
            ReplayedHeader,
          ),
          ...errorResponses(
            'missing_recipient_or_subject',
            'missing_body',
            'unknown_field',
            'invalid_request',
            'invalid_json',
            'duplicate_field',
            'invalid_uuid',
            'invalid_address',
            'too_many_recipients',
            'invalid_message_id',
            'header_injection',
            'invalid_text',
            'invalid_filename',
            'invalid_content_type',
            'invalid_base64',
            'invalid_send_at',
            'invalid_lane',
            'unknown_account',
            'invalid_idempotency_key',
            'unauthorized',
            'thread_not_found',
            'request_timeout',
            'idempotency_key_reused',
            'idempotency_in_progress',
            'payload_too_large',
            'attachments_too_large',
            'recipient_suppressed',
            'unsupported_media_type',
            'unsupported_content_encoding',
            'rate_limited',
            'loop_suspected',
            'send_failed',
            'send_deferred',
            'send_unknown',
            'busy',
            'database_unavailable',
            'storage_unavailable',
            'reading_unavailable',
            'disk_full',
          ),
        },
      },
    },
    async (request, reply) => {
      refuseOtherMedia(request.headers);
      const key = readIdempotencyKey(request.headers);
      const slot = slots.reserve();
      try {
        const folder = spool.create();
        const respondAsync = prefersAsync(request.headers.prefer);
        const { maxBodyBytes: maxBytes } = limits;
        const read = await openBody(request, reply, { limits, logger, maxBytes, slot, folder }, (body) =>
          readInput(body, folder, limits),
        );
        const input = { ...read, respondAsync };
        if (key === null) return answer(reply, await application.sendMessage(input, folder), respondAsync);
        const { outcome, replayed } = await application.sendOnce(key, input, folder);
        if (replayed) reply.header(REPLAYED_HEADER, 'true');
        return answer(reply, outcome, respondAsync);
      } finally {
        slot.release();
      }
    },
  );
}

/** Throws what a send that was tried in vain ended with. */
function answer(reply: FastifyReply, outcome: SendOutcome, respondAsync: boolean): FastifyReply {
  if (outcome.kind === 'failed') {
    throw new ServiceError(outcome.code, outcome.details === null ? {} : { details: outcome.details });
  }
  const messageId = formatMessageId(outcome.messageId);
  if (outcome.kind === 'partial') {
    const partial = { status: 'partial', message: PARTIAL_TEXT, messageId, error: outcome.error };
    return reply.code(207).send(partial);
  }
  const { kind, id, threadId } = outcome;
  if (kind === 'queued') {
    reply.code(202).header('location', `/api/emails/${id}`);
    if (respondAsync) reply.header('preference-applied', 'respond-async');
  }
  return reply.send({ status: kind, id, messageId, threadId });
}

async function readInput(
  body: AsyncGenerator<Buffer>,
  folder: SpoolFolder,
  limits: HttpLimits,
): Promise<SendRequest> {
  // A placeholder that a caller could guess would let one attachment stand for another.
  const secret = randomBytes(16).toString('hex');
  let count = 0;
  const json = await readJsonWithLongStrings(body, {
    threshold: limits.maxInlineContentBytes,
    maxTextBytes: limits.maxTextBytes,
    maxElements: limits.maxJsonElements,
    maxDepth: limits.maxJsonDepth,
    maxDecodedBytes: limits.maxAttachmentBytes,
    folder,
    placeholder: () => `${secret}x${count++}`,
  });
  return readSendBody(json, limits);
}
