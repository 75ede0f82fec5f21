/** The request headers and answers of every operation that sends one email. */
import type { FastifyReply } from 'fastify';
import type { SendOutcome } from './use-cases.ts';
import { formatMessageId } from '../../core/message/message-id.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import { PARTIAL_TEXT, ServiceError } from '../../core/errors.ts';
import { Recipient } from '../emails/email-detail.ts';
import { toReplyJson } from '../emails/email-view.ts';
import { jsonResponse, MessageIdText, record, Uuid, withOptional } from '../../platform/schemas/schemas.ts';
import { CheckedSend } from './dry-run.ts';
import { IdempotencyHeaders, ReplayedHeader } from './idempotency-key.ts';

const RecipientNotAccepted = record('RecipientNotAccepted', {
  address: { type: 'string' },
  state: { type: 'string', enum: ['rejected', 'deferred'] },
  reply: Recipient.properties.reply,
});

export const NOT_ACCEPTED = {
  not_accepted: {
    type: 'array',
    minItems: 1,
    items: RecipientNotAccepted,
    description:
      'Recipients that the mail server refused (`rejected`) or deferred (`deferred`, retried later) while it accepted others. ' +
      'Absent when it accepted all.',
  },
} as const;

export const SentResult = withOptional(
  record('Sent', {
    status: { type: 'string', const: 'sent' },
    id: { ...Uuid, description: 'The stored email.' },
    messageId: MessageIdText,
    threadId: { ...Uuid, description: 'The thread it was placed in.' },
  }),
  NOT_ACCEPTED,
);

export const QueuedResult = record('Queued', {
  status: { type: 'string', const: 'queued' },
  id: { ...Uuid, description: 'The stored email. `GET /api/emails/{id}` returns its state.' },
  messageId: MessageIdText,
  threadId: { ...Uuid, description: 'The thread it was placed in.' },
});

export const PartialResult = record('Partial', {
  status: { type: 'string', const: 'partial' },
  message: { type: 'string', description: 'German text: sent, but not stored yet.' },
  messageId: MessageIdText,
  error: { type: 'string', description: 'Why it was not stored.' },
});

export const PreferHeader = {
  Prefer: {
    type: 'string',
    description:
      '`respond-async` (RFC 7240): the email is only put into the queue, and the answer is 202 with the header ' +
      '`Preference-Applied`.',
  },
} as const;

/** For OpenAPI: the request headers of a send. */
export const SendHeaders = {
  ...IdempotencyHeaders,
  properties: { ...IdempotencyHeaders.properties, ...PreferHeader },
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

/** The answers of a send, without its errors. */
export const SEND_RESPONSES = {
  200: jsonResponse('Sent and stored.', SentResult, ReplayedHeader),
  202: jsonResponse('Stored and queued.', QueuedResult, QueuedHeaders),
  207: jsonResponse('Sent, but not stored yet; the service stores it later.', PartialResult, ReplayedHeader),
} as const;

/** The same of a send that `dry_run` may only check. */
export const CHECKED_SEND_RESPONSES = {
  ...SEND_RESPONSES,
  200: jsonResponse(
    'Sent and stored; or, with `dry_run`, only checked.',
    { anyOf: [SentResult, CheckedSend] },
    ReplayedHeader,
  ),
} as const;

/** The errors of any send with a body. */
export const SEND_ERRORS = [
  'missing_recipient_or_subject',
  'missing_body',
  'template_invalid',
  'template_variable_missing',
  'template_too_complex',
  'template_empty',
  'variables_too_large',
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
  'header_not_allowed',
  'invalid_tag',
  'metadata_too_large',
  'invalid_content_id',
  'invalid_filename',
  'invalid_content_type',
  'invalid_base64',
  'invalid_send_at',
  'invalid_lane',
  'unknown_account',
  'unsubscribe_unavailable',
  'invalid_list',
  'one_recipient_expected',
  'invalid_idempotency_key',
  'invalid_credentials',
  'forbidden_from',
  'thread_not_found',
  'template_not_found',
  'upload_not_found',
  'attachment_not_found',
  'content_missing',
  'request_timeout',
  'idempotency_key_reused',
  'email_deleted',
  'idempotency_in_progress',
  'payload_too_large',
  'attachments_too_large',
  'thread_has_moved_on',
  'account_paused',
  'recipient_suppressed',
  'recipient_unsubscribed',
  'unsupported_media_type',
  'unsupported_content_encoding',
  'rate_limited',
  'loop_suspected',
  'send_failed',
  'send_deferred',
  'send_unknown',
  'busy',
  'account_unavailable',
  'database_unavailable',
  'storage_unavailable',
  'storage_mismatch',
  'reading_unavailable',
  'disk_full',
] as const satisfies readonly ErrorCode[];

/** The errors of a whole batch; those of one email are in its result. */
export const BATCH_ERRORS = [
  'unknown_field',
  'invalid_request',
  'invalid_json',
  'duplicate_field',
  'invalid_idempotency_key',
  'invalid_credentials',
  'request_timeout',
  'payload_too_large',
  'attachments_too_large',
  'unsupported_media_type',
  'unsupported_content_encoding',
  'busy',
  'disk_full',
] as const satisfies readonly ErrorCode[];

/** Throws the error of a send whose attempt failed. */
export function answerSend(reply: FastifyReply, outcome: SendOutcome, respondAsync: boolean): FastifyReply {
  const { httpStatus, json } = toSendJson(outcome);
  if (outcome.kind === 'queued') {
    reply.header('location', `/api/emails/${outcome.id}`);
    if (respondAsync) reply.header('preference-applied', 'respond-async');
  }
  return reply.code(httpStatus).send(json);
}

/** Throws as answerSend. */
export function toSendJson(outcome: SendOutcome): {
  readonly httpStatus: number;
  readonly json: Readonly<Record<string, unknown>>;
} {
  if (outcome.kind === 'failed') {
    const { code, id, details } = outcome;
    throw new ServiceError(code, {
      ...(details === null ? {} : { details }),
      ...(id === undefined ? {} : { emailId: id }),
    });
  }
  const messageId = formatMessageId(outcome.messageId);
  if (outcome.kind === 'partial') {
    const json = { status: 'partial', message: PARTIAL_TEXT, messageId, error: outcome.error };
    return { httpStatus: 207, json };
  }
  const { kind, id, threadId } = outcome;
  const json = { status: kind, id, messageId, threadId };
  if (kind === 'queued') return { httpStatus: 202, json };
  const notAccepted = outcome.notAccepted?.map(({ reply, ...of }) => ({ ...of, reply: toReplyJson(reply) }));
  return { httpStatus: 200, json: notAccepted === undefined ? json : { ...json, not_accepted: notAccepted } };
}
