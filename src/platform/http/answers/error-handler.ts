/**
 * The outermost edge of HTTP: turns any thrown error into the body of error-json.ts and logs faults of ours, once. Internals (stack, cause, message
 * of unknown errors) go to the log only.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../base/basics.ts';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import type { HttpLimits } from '../connections/limits.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';
import { mayBeUnknown } from '../../schemas/unknown-outcome.ts';
import { toErrorJson } from './error-json.ts';
import type { FindOtherMistakes } from './other-mistakes.ts';
import { closeAfterAnswer, drainRest } from '../body/request-body.ts';
import { setAnswerHeaders } from '../connections/security-headers.ts';

/** The time after which a caller may retry after a 503 or 429, in seconds. */
export const RETRY_AFTER_SECONDS = 5;
/** The same while the first request with an idempotency key runs: most sends take less time. */
const RETRY_AFTER_RUNNING_SECONDS = 1;

/** Errors that Fastify itself throws. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  FST_ERR_NOT_FOUND: 'not_found',
};

const FASTIFY_FAULTS: Readonly<Record<string, () => ServiceError>> = {
  FST_ERR_BAD_URL: () => invalidRequest('bad_path'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidRequest('wrong_content_length'),
};

/** Refusals of the static files of the documentation, by status: the caller's fault, so they are not logged. */
const STATIC_REFUSALS: Readonly<Record<number, () => ServiceError>> = {
  400: () => new ServiceError('not_found'),
  // A path that leaves the folder
  403: () => new ServiceError('not_found'),
  404: () => new ServiceError('not_found'),
  412: () => new ServiceError('precondition_failed'),
  416: () => new ServiceError('range_not_satisfiable'),
};

/** RFC 6750 §3.1: a request without credentials gets no error code. */
const INVALID_TOKEN = 'Bearer error="invalid_token"';
const CHALLENGES: ReadonlyMap<ErrorCode, string> = new Map([
  ['missing_credentials', 'Bearer'],
  ['invalid_credentials', INVALID_TOKEN],
  ['expired_key', INVALID_TOKEN],
  ['revoked_key', INVALID_TOKEN],
]);

/** Creates Fastify's error handler; it also handles errors that come before routing. */
export function createErrorHandler(
  limits: HttpLimits,
  lingering: LingeringClose,
  logger: Logger,
  findOthers: FindOtherMistakes = (error) => error,
) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = findOthers(toAnswered(toServiceError(thrown, request), request), request);
    logFailure(error, request, logger);
    const mayGoOn = reply.getHeader('connection') !== 'close' && drainRest(request.raw, limits.maxBodyBytes);
    if (!mayGoOn) closeAfterAnswer(request.raw, lingering);
    if (!mayGoOn || error.code === 'request_timeout') reply.header('connection', 'close');
    const challenge = CHALLENGES.get(error.code);
    if (challenge !== undefined) reply.header('www-authenticate', challenge);
    if (error.status === 503 || error.status === 429) {
      reply.header('retry-after', String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
    }
    if (error.code === 'idempotency_in_progress') {
      reply.header('retry-after', String(RETRY_AFTER_RUNNING_SECONDS));
    }
    forgetFile(reply);
    setAnswerHeaders(reply);
    reply
      .code(error.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(toErrorJson(error, { id: request.id, schema: request.routeOptions.schema })));
  };
}

/** A file that fails before its first byte has left its headers behind, some of them already in Node.js. */
function forgetFile(reply: FastifyReply): void {
  for (const name of ['content-disposition', 'content-length', 'etag', 'accept-ranges'])
    reply.removeHeader(name);
  if (!reply.raw.headersSent) {
    for (const name of reply.raw.getHeaderNames()) reply.raw.removeHeader(name);
  }
}

/**
 * A request whose outcome is not known must not look like one that did nothing: without an Idempotency-Key, a caller who repeats it makes a
 * second email, draft or key.
 */
export function toAnswered(
  error: ServiceError,
  { method, headers, routeOptions }: FastifyRequest,
): ServiceError {
  if (!error.mayHaveHappened || headers['idempotency-key'] !== undefined) return error;
  if (!mayBeUnknown(method, routeOptions.schema)) return error;
  const { emailId, cause } = error;
  return new ServiceError('commit_unknown', { cause, ...(emailId === undefined ? {} : { emailId }) });
}

/** Of operations that take no JSON, by what they take. */
const EXPECTED_TYPES: Readonly<Record<string, ErrorCode>> = {
  'application/octet-stream': 'file_expected',
  'message/rfc822': 'message_expected',
};

/** A type that Fastify can't read, such as a list of two, never reaches the operation that names the right one. */
function unreadableType({ routeOptions }: FastifyRequest): ServiceError {
  const { content = {} } = (routeOptions.schema?.body ?? {}) as { content?: object };
  const [expected] = Object.keys(content).flatMap((type) => EXPECTED_TYPES[type] ?? []);
  return new ServiceError(expected ?? 'unsupported_media_type');
}

function toServiceError(thrown: unknown, request: FastifyRequest): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { code, statusCode } = Object(thrown) as { code?: unknown; statusCode?: unknown };
  if (typeof code === 'string' && code.startsWith('FST_ERR_')) {
    if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unreadableType(request);
    const known = FASTIFY_CODES[code];
    if (known !== undefined) return new ServiceError(known);
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
      return (FASTIFY_FAULTS[code] ?? (() => invalidRequest('not_http')))();
    }
  }
  const refusal = STATIC_REFUSALS[Number(statusCode)];
  if (refusal !== undefined) return refusal();
  return new ServiceError('internal_error', { cause: thrown });
}

/** Codes with a status from 500 on that are not our fault. */
const NOT_OURS: ReadonlySet<ErrorCode> = new Set(['shutting_down', 'busy', 'unsupported_transfer_coding']);

/** Failures that no caller can fix by waiting are errors; the others are warnings. */
function logFailure(error: ServiceError, request: FastifyRequest, logger: Logger): void {
  if (error.status < 500 || NOT_OURS.has(error.code)) return;
  // The route's pattern, not the URL: a query may contain data that must not be logged.
  const { id: requestId, method, routeOptions } = request;
  const fields = { err: error, code: error.code, requestId, method, route: routeOptions.url };
  if (error.code === 'internal_error' || error.code === 'content_missing') {
    logger.error(fields, 'request failed');
  } else {
    logger.warn(fields, 'request failed');
  }
}
