/** JSON bodies: the check of their headers, and the reading of small ones. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { ServiceError } from '../../../core/errors.ts';
import { refuse, type NoteMistake } from '../../../core/mistakes.ts';
import type { HttpLimits } from '../connections/limits.ts';
import { readJsonWithLongStrings } from './json-long-strings.ts';
import { refuseOtherTypes, type TypeSchema } from './json-types.ts';
import { readRequestBody, takeAwaitingContinue } from './request-body.ts';

/** RFC 8259 §11 defines no charset. Seen in practice: most clients name UTF-8. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-?8"?[ \t]*)?(?:;[ \t]*)?$/i;

/** Enough for a few words; a larger body is something else. */
const MAX_SMALL_BODY_BYTES = 4096;

/** Throws `unsupported_content_encoding`, `unsupported_media_type`, or `invalid_json` when the request has no body. */
export function refuseOtherMedia(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new ServiceError('unsupported_content_encoding');
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (headers['content-type'] === undefined && !hasBody) throw new ServiceError('invalid_json');
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('unsupported_media_type');
}

/** The errors of the hooks below, and of the validation of the body that they read. */
export const JSON_BODY_ERRORS = [
  'invalid_json',
  'duplicate_field',
  'invalid_request',
  'unknown_field',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_content_encoding',
] as const satisfies readonly ErrorCode[];

/**
 * As smallJsonBody; a request without a body gets an empty object. Operations that need no body have this hook as well: otherwise fields
 * that a caller sent would be silently ignored.
 */
export function optionalJsonBody(limits: HttpLimits, maxBytes?: number): preValidationAsyncHookHandler {
  const read = smallJsonBody(limits, maxBytes);
  return async function (request, reply) {
    const { headers } = request;
    const isEmpty =
      headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    if (isEmpty) request.body = {};
    else await read.call(this, request, reply);
  };
}

/**
 * Returns a hook that reads a body of up to `maxBytes`, by default 4 KiB, for the route's schema to check. Nothing is coerced; a route
 * without such a schema takes no fields.
 */
export function smallJsonBody(
  limits: HttpLimits,
  maxBytes = MAX_SMALL_BODY_BYTES,
): preValidationAsyncHookHandler {
  const read = freeJsonBody(limits, maxBytes);
  return async function (request, reply) {
    await read.call(this, request, reply);
    typed.add(request);
    noteOtherTypes(request, refuse);
  };
}

/** Requests whose bodies smallJsonBody has read. */
const typed = new WeakSet<FastifyRequest>();

/** The mistakes in the names and types of a body that smallJsonBody has read. */
export function noteOtherTypes(request: FastifyRequest, note: NoteMistake): void {
  if (!typed.has(request)) return;
  refuseOtherTypes(request.body, (request.routeOptions.schema?.body ?? {}) as TypeSchema, note);
}

/** Returns a hook that reads a body of up to `maxBytes` and leaves the check of its fields to the route. */
export function freeJsonBody(limits: HttpLimits, maxBytes: number): preValidationAsyncHookHandler {
  return async (request, reply) => {
    refuseOtherMedia(request.headers);
    const body = readRequestBody(request.raw, {
      maxBytes,
      idleTimeoutMs: limits.bodyIdleTimeoutMs,
      onSize: () => {
        if (takeAwaitingContinue(request.raw)) reply.raw.writeContinue();
      },
    });
    const reading = readJsonWithLongStrings(body, {
      ...NOTHING_CUT_OUT,
      maxTextBytes: maxBytes,
      maxElements: limits.maxJsonElements,
      maxDepth: limits.maxJsonDepth,
      maxFields: limits.maxJsonFields,
    });
    // A body that is refused while it arrives: the rest can be dropped only once nothing waits for it.
    try {
      request.body = (await reading).value;
    } finally {
      await body.return();
    }
  };
}

/** Small bodies contain no files. */
const NOTHING_CUT_OUT = {
  threshold: Infinity,
  maxDecodedBytes: 0,
  folder: { write: () => Promise.reject(new Error('a string of a small body was cut out')) },
  placeholder: () => '',
};
