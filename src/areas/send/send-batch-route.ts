/** POST /api/send/batch: sends many emails, each with a result of its own. */
import { routed, type SendDeps } from './routed.ts';
import type { FastifyRequest } from 'fastify';
import { MAX_BATCH_EMAILS, sendBatch as sendAll, type BatchResult } from './send-batch.ts';
import type { AskedSend } from './use-cases.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { MAX_PROBLEMS, Mistakes } from '../../core/mistakes.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { toAnswered } from '../../platform/http/answers/error-handler.ts';
import { toErrorJson } from '../../platform/http/answers/error-json.ts';
import { refuseOtherMedia } from '../../platform/http/body/json-body.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import { ErrorBody, errorResponses } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse, record, withOptional } from '../../platform/schemas/schemas.ts';
import { CheckedSend, readHowToSend, SendDryRun, toCheckedJson } from './dry-run.ts';
import { REPLAYED_HEADER, ReplayedHeader } from './idempotency-key.ts';
import { prefersAsync } from './prefer.ts';
import {
  BATCH_ERRORS,
  PartialResult,
  QueuedResult,
  SendHeaders,
  SentResult,
  toSendJson,
} from './send-answer.ts';
import { refuseUnknown, toFields, wrongType } from '../../platform/http/body/fields.ts';
import type { EmailJson } from './attachment-body.ts';
import { readSendBody, SendBody } from './send-body.ts';
import { sendsOf } from './send-route.ts';
import type { SendInput } from './send-input.ts';

const BatchBody = {
  type: 'object',
  title: 'BatchRequest',
  additionalProperties: false,
  required: ['emails'],
  properties: {
    emails: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH_EMAILS,
      items: SendBody,
      description: 'Each as the body of `POST /api/send`.',
    },
  },
} as const;

const BATCH_FIELDS = new Set(Object.keys(BatchBody.properties));

/** Mistakes in all emails of a batch together, besides the first of each: 500 emails must not make 10,000 of a few bytes each. */
const MAX_FURTHER_PROBLEMS = 100;

const httpStatus = (...values: readonly number[]) => ({
  type: 'integer',
  ...(values.length === 0 ? { minimum: 400, maximum: 599 } : { enum: values }),
  description: 'HTTP status that `POST /api/send` would have returned.',
});

/** All results are of one request. */
const { request_id: _ofRequest, ...EMAIL_ERROR_PROPERTIES } = ErrorBody.properties;

const BatchAnswer = record('BatchAnswer', {
  results: {
    type: 'array',
    items: {
      anyOf: [
        withOptional(
          {
            ...SentResult,
            title: 'BatchSent',
            required: [...SentResult.required, 'http_status'],
          },
          { http_status: httpStatus(200) },
        ),
        record('BatchQueued', { ...QueuedResult.properties, http_status: httpStatus(202) }),
        record('BatchChecked', { ...CheckedSend.properties, http_status: httpStatus(200) }),
        record('BatchPartial', { ...PartialResult.properties, http_status: httpStatus(207) }),
        {
          ...ErrorBody,
          title: 'BatchError',
          required: ['status', 'http_status', 'error', 'message', 'code', 'doc'],
          properties: {
            status: { type: 'string', const: 'error' },
            http_status: httpStatus(),
            ...EMAIL_ERROR_PROPERTIES,
          },
        },
      ],
    },
    description: 'One result for each email, in the order of the request.',
  },
});

const sendBatch = routed<object, readonly BatchResult[]>()({
  id: 'sendBatch',
  method: 'POST',
  path: '/api/send/batch',
  right: 'send',
  tag: 'Sending',
  summary: 'Send many emails',
  description:
    `Up to ${MAX_BATCH_EMAILS} emails, each judged, sent and answered for itself: one that is refused stops no other, and ` +
    'the answer is 200 whatever became of them. `Prefer: respond-async` is meant for all of them. With an `Idempotency-Key` ' +
    'the request may be repeated: what was sent keeps its result, and only what was not tried is tried again.',
  // Each email is a send of the caller.
  account: 'none',
});

export function registerSendBatchRoutes(
  app: HttpServer,
  { perform, spool, logger, stopping }: HttpContext<SendDeps>,
  input: SendInput,
): void {
  app.post(
    sendBatch.path,
    {
      // The body is read as a stream and checked by readBatchBody; the schema is for the document.
      validatorCompiler: () => () => true,
      schema: {
        ...schemaOfOperation(sendBatch),
        querystring: SendDryRun,
        headers: SendHeaders,
        body: BatchBody,
        response: {
          200: jsonResponse('Each email has its result.', BatchAnswer, ReplayedHeader),
          ...errorResponses(...BATCH_ERRORS),
        },
      },
    },
    async (request, reply) => {
      refuseOtherMedia(request.headers);
      const { key, dryRun } = readHowToSend(request);
      const respondAsync = prefersAsync(request.headers.prefer);
      const sends = sendsOf(perform, request);
      return input.withBody(request, reply, readBatchBody, async (read, folder) => {
        const emails = read.map((email) =>
          email instanceof ServiceError ? email : { ...email, respondAsync },
        );
        const results = await perform(request, sendBatch, {}, () =>
          sendAll({ sends, spool, logger, stopping }, { key, emails, dryRun }, folder),
        );
        if (results.some(isReplayed) && !results.some(isNew)) reply.header(REPLAYED_HEADER, 'true');
        shortenProblems(results);
        return reply.send({ results: results.map((result) => toResultJson(result, request)) });
      });
    },
  );
}

/** An email that can't be read becomes its error. Throws for faults of the batch itself. */
function readBatchBody(json: EmailJson, limits: HttpLimits): readonly (AskedSend | ServiceError)[] {
  const body = toFields(json.value);
  if (body === null) throw invalidRequest('not_an_object');
  const mistakes = new Mistakes();
  refuseUnknown(body, BATCH_FIELDS, '', mistakes.note);
  const emails = mistakes.check(() => readEmails(body['emails'] ?? null));
  mistakes.refuseAny();
  let left = MAX_FURTHER_PROBLEMS;
  return emails.map((value) => {
    try {
      return readSendBody({ ...json, value }, limits, Math.min(left + 1, MAX_PROBLEMS));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      left -= error.others.length;
      return error;
    }
  });
}

function readEmails(emails: unknown): readonly unknown[] {
  if (emails === null) throw invalidRequest('missing', { field: 'emails' });
  if (!Array.isArray(emails)) throw wrongType('emails', 'objects');
  if (emails.length === 0) throw invalidRequest('no_entries', { field: 'emails' });
  if (emails.length > MAX_BATCH_EMAILS) {
    throw invalidRequest('too_many_entries', { field: 'emails', limit: MAX_BATCH_EMAILS });
  }
  return emails;
}

/** The mistakes that are found when an email is prepared count as well. */
function shortenProblems(results: readonly BatchResult[]): void {
  let left = MAX_FURTHER_PROBLEMS;
  for (const result of results) {
    if (result.kind !== 'refused') continue;
    const { error } = result;
    error.others = error.others.slice(0, left);
    left -= error.others.length;
  }
}

const isReplayed = (result: BatchResult) => result.kind === 'ended' && result.replayed;
const isNew = (result: BatchResult) => result.kind === 'ended' && !result.replayed;

function toResultJson(result: BatchResult, request: FastifyRequest): object {
  if (result.kind === 'refused') return toRefusedJson(toAnswered(result.error, request), request);
  if (result.kind === 'checked') return { ...toCheckedJson(result.email), http_status: 200 };
  try {
    const { httpStatus: status, json } = toSendJson(result.outcome);
    return { ...json, http_status: status };
  } catch (error) {
    if (error instanceof ServiceError) return toRefusedJson(error, request);
    throw error;
  }
}

/** Fields are those of the email, not of the batch. */
function toRefusedJson(error: ServiceError, { id }: FastifyRequest): object {
  const { request_id: _ofRequest, ...json } = toErrorJson(error, { id, schema: { body: SendBody } });
  return { status: 'error', http_status: error.status, ...json };
}
