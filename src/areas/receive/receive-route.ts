/**
 * POST /api/inbound: takes one raw message, from a mail server's pipe or a provider's webhook, and records it.
 */
import type { FastifyRequest } from 'fastify';
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import { keyIdOf } from '../../platform/http/connections/auth.ts';
import { readRaw } from '../../platform/files/read-raw.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import { chooseAccount } from '../../platform/http/operations/account-rules.ts';
import type { ReceiveUseCases, ReceiveRequest, ReceiveResult } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';

import { keyIdOf as keyIdOfCaller } from '../../core/keys/caller.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import { BinaryBody } from '../../platform/http/body/binary-body.ts';
import { RequestSlots } from '../../platform/http/body/request-slots.ts';
import { openBody } from '../../platform/http/body/open-body.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse, MessageIdText, record, Uuid } from '../../platform/schemas/schemas.ts';

const routed = routedWith<ReceiveUseCases>();

const ReceivedResult = record('Received', {
  status: {
    type: 'string',
    enum: ['received', 'duplicate', 'deleted'],
    description:
      '`duplicate`: the email was already recorded or was sent by this service; nothing was added, except that with `sent` an ' +
      'email recorded as received becomes a sent one. `deleted`: the email was recorded and then deleted; nothing was added, and ' +
      'its identifiers are not found.',
  },
  id: { ...Uuid, description: 'The record of the email.' },
  messageId: { ...MessageIdText, description: 'Its Message-ID; a generated one when it has none.' },
  threadId: { ...Uuid, description: 'The thread it was placed in.' },
});

const InboundQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    account_id: {
      type: 'string',
      minLength: 1,
      maxLength: 63,
      description: 'The account that received it. Default: the default account.',
    },
    sent: {
      type: 'boolean',
      default: false,
      description:
        'True for a message that was sent from the account with another program, such as one of its Sent ' +
        'mailbox: it is recorded as `outbound`, unless it is the copy of an email that was sent from here.',
    },
    read: {
      type: 'boolean',
      default: false,
      description:
        'True for a message that was read already: it is recorded as read. Changes nothing for an email ' +
        'that is recorded. Not with `sent`.',
    },
  },
} as const;

/** Parameters such as a charset mean nothing here; servers add them. */
const MESSAGE_TYPE = /^message\/(?:rfc822|global)[ \t]*(?:;.*)?$/i;

const receiveEmail = routed<Pick<ReceiveRequest, 'accountId'>, ReceiveResult>()({
  id: 'receiveEmail',
  method: 'POST',
  path: '/api/inbound',
  right: 'receive',
  tag: 'Receiving',
  summary: 'Record one received email, or one sent by another program',
  description:
    'The body is the raw message, RFC 5322. The response is sent when the record is durable. The same email (Message-ID, ' +
    'Date, From and subject) is recorded once, so a request without a response can be repeated. Broken messages are ' +
    'recorded with their defects.',
  account: { decide: chooseAccount },
});

export function registerInboundRoutes(app: HttpServer, context: HttpContext<ReceiveUseCases>): void {
  const { perform, limits, logger, spool } = context;
  const slots = new RequestSlots(limits.maxLargeBodies);

  app.post(
    receiveEmail.path,
    {
      schema: {
        ...schemaOfOperation(receiveEmail),
        querystring: InboundQuery,
        body: {
          content: { 'message/rfc822': { schema: { ...BinaryBody, description: 'The raw message.' } } },
        },
        response: {
          200: jsonResponse('Recorded.', ReceivedResult),
          ...errorResponses(
            'invalid_request',
            'unknown_account',
            'invalid_credentials',
            'request_timeout',
            'payload_too_large',
            'message_expected',
            'unsupported_media_type',
            'unsupported_content_encoding',
            'busy',
            'database_unavailable',
            'storage_unavailable',
            'storage_mismatch',
            'reading_unavailable',
            'disk_full',
          ),
        },
      },
    },
    async (request, reply) => {
      refuseOtherMedia(request);
      const { sent: isSentCopy = false, read: isRead = false } = request.query;
      if (isSentCopy && isRead) throw invalidRequest('not_with', { field: 'read', other: 'sent' });
      const slot = slots.reserve(keyIdOf(request));
      const folder = spool.create();
      try {
        const { maxInboundBytes: maxBytes } = limits;
        const raw = await openBody(request, reply, { limits, logger, maxBytes, slot, folder }, (body) =>
          readMessage(body, folder, limits),
        );
        const asked = { accountId: request.query.account_id ?? null };
        const source = { way: 'http', place: null } as const;
        const { kind, id, messageId, threadId } = await perform(
          request,
          receiveEmail,
          asked,
          ({ accountId }, { receiveMessage }, caller) => {
            // Anyone who hands in mail can write a delivery report, and a suppressed address is one for all accounts.
            const suppresses = caller.accounts === null;
            const authorKeyId = keyIdOfCaller(caller);
            return receiveMessage(
              { raw, accountId, isSentCopy, isRead, suppresses, source, authorKeyId },
              folder,
            );
          },
          folder,
        );
        return { status: kind, id, messageId: formatMessageId(messageId), threadId };
      } finally {
        slot.release();
      }
    },
  );
}

function refuseOtherMedia({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new ServiceError('unsupported_content_encoding');
  if (!MESSAGE_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('message_expected');
}

async function readMessage(
  body: AsyncGenerator<Buffer>,
  folder: SpoolFolder,
  limits: HttpLimits,
): Promise<Content> {
  const raw = await readRaw(body, limits.smallBodyBytes, folder);
  if (raw.kind === 'bytes' && raw.bytes.length === 0) throw invalidRequest('missing_message');
  return raw;
}
