/**
 * POST /api/send: sends one email and records it.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SendOutcome, SendRequest } from '../../../app/application.ts';
import type { SpoolFolder } from '../../../app/ports.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { HttpContext, HttpServer } from '../context.ts';
import { formatMessageId } from '../email-view.ts';
import {
  IdempotencyHeaders,
  readIdempotencyKey,
  REPLAYED_HEADER,
  ReplayedHeader,
} from '../idempotency-key.ts';
import { readJsonWithLongStrings } from '../json-long-strings.ts';
import { LargeBodyPlaces } from '../large-body-places.ts';
import type { LargeBodyPlace } from '../large-body-places.ts';
import { readRequestBody, takeAwaitingContinue } from '../request-body.ts';
import { errorResponses, MessageIdText, Uuid } from '../schemas.ts';
import { readSendBody } from '../send-body.ts';

/** RFC 8259 §11 knows no charset; Seen in practice: most clients name UTF-8. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-?8"?[ \t]*)?;?[ \t]*$/i;

const PARTIAL_MESSAGE =
  'Die E-Mail wurde gesendet, konnte aber nicht in der Datenbank gespeichert werden. Sie wird nachgetragen, sobald das möglich ist.';

const SentResult = {
  type: 'object',
  title: 'Sent',
  additionalProperties: false,
  required: ['status', 'id', 'messageId', 'threadId'],
  properties: {
    status: { type: 'string', const: 'sent' },
    id: { ...Uuid, description: 'The stored email.' },
    messageId: MessageIdText,
    threadId: { ...Uuid, description: 'The thread it was placed in.' },
  },
} as const;

const PartialResult = {
  type: 'object',
  title: 'Partial',
  additionalProperties: false,
  required: ['status', 'message', 'messageId', 'error'],
  properties: {
    status: { type: 'string', const: 'partial' },
    message: { type: 'string', description: 'German text: sent, but not stored yet.' },
    messageId: MessageIdText,
    error: { type: 'string', description: 'Why it was not stored.' },
  },
} as const;

export function registerSendRoutes(app: HttpServer, context: HttpContext): void {
  const { application, limits, spool } = context;
  const places = new LargeBodyPlaces(limits.maxLargeBodies);

  app.post(
    '/api/send',
    {
      // The body is read as a stream and checked by readSendBody; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'sendEmail',
        tags: ['Sending'],
        summary: 'Send one email and record it',
        description:
          'Unknown fields are refused. null means absent. `thread_id` decides the thread, else a known ' +
          '`in_reply_to`, else a new thread begins. After a 207 the email is sent; it must not be sent again. With ' +
          'an `Idempotency-Key` a request may be repeated without sending twice.',
        headers: IdempotencyHeaders,
        body: { $ref: 'SendRequest#' },
        response: {
          200: { description: 'Sent and stored.', headers: ReplayedHeader, ...SentResult },
          207: {
            description: 'Sent, but not stored yet; it is stored by itself later.',
            headers: ReplayedHeader,
            ...PartialResult,
          },
          ...errorResponses(
            'missing_recipient_or_subject',
            'missing_body',
            'unknown_field',
            'invalid_request',
            'invalid_json',
            'invalid_uuid',
            'invalid_address',
            'too_many_recipients',
            'invalid_message_id',
            'header_injection',
            'invalid_text',
            'invalid_filename',
            'invalid_content_type',
            'invalid_base64',
            'unknown_account',
            'invalid_idempotency_key',
            'unauthorized',
            'thread_not_found',
            'request_timeout',
            'idempotency_key_reused',
            'idempotency_in_progress',
            'payload_too_large',
            'attachments_too_large',
            'unsupported_media_type',
            'unsupported_content_encoding',
            'send_failed',
            'send_deferred',
            'send_unknown',
            'busy',
            'database_unavailable',
            'storage_unavailable',
            'disk_full',
          ),
        },
      },
    },
    async (request, reply) => {
      refuseOtherMedia(request.headers);
      const key = readIdempotencyKey(request.headers);
      const place = places.reserve();
      try {
        const folder = spool.create();
        const input = await readInput(request, reply, folder, place, context);
        if (key === null) return answer(reply, await application.sendMessage(input, folder));
        const { outcome, replayed } = await application.sendOnce(key, input, folder);
        if (replayed) reply.header(REPLAYED_HEADER, 'true');
        return answer(reply, outcome);
      } finally {
        place.release();
      }
    },
  );
}

/** Throws what a send that was tried in vain ended with. */
function answer(reply: FastifyReply, outcome: SendOutcome): FastifyReply {
  if (outcome.kind === 'failed') {
    throw new ServiceError(outcome.code, outcome.details === null ? {} : { details: outcome.details });
  }
  const messageId = formatMessageId(outcome.messageId);
  if (outcome.kind !== 'partial') {
    const { kind: status, id, threadId } = outcome;
    return reply.code(status === 'queued' ? 202 : 200).send({ status, id, messageId, threadId });
  }
  const partial = { status: 'partial', message: PARTIAL_MESSAGE, messageId, error: outcome.error };
  return reply.code(207).send(partial);
}

function refuseOtherMedia(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new ServiceError('unsupported_content_encoding');
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (headers['content-type'] === undefined && !hasBody) throw new ServiceError('invalid_json');
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('unsupported_media_type');
}

/** Reads the body; on any failure nothing of it is left in `folder`. */
async function readInput(
  request: FastifyRequest,
  reply: FastifyReply,
  folder: SpoolFolder,
  place: LargeBodyPlace,
  { limits, logger }: HttpContext,
): Promise<SendRequest> {
  const body = readRequestBody(request.raw, {
    maxBytes: limits.maxBodyBytes,
    idleTimeoutMs: limits.bodyIdleTimeoutMs,
    onSize: (bytes) => {
      if (bytes > limits.smallBodyBytes) place.take();
      if (takeAwaitingContinue(request.raw)) reply.raw.writeContinue();
    },
  });
  try {
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
  } catch (error) {
    await folder.remove().catch((err: unknown) => logger.warn({ err }, 'spool folder could not be removed'));
    throw error;
  } finally {
    await body.return();
  }
}
