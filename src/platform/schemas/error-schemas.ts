/** The errors of an operation, for the OpenAPI document. */
import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode } from '../../core/error-registry.ts';
import { MAX_PROBLEMS } from '../../core/mistakes.ts';
import { NewEmails } from './new-email.ts';
import { record, Uuid } from './schemas.ts';

const ErrorField = { title: 'ErrorField', type: 'string' } as const;
const ErrorCodeText = { title: 'ErrorCode', type: 'string', pattern: '^[a-z0-9_]+$' } as const;

/** One mistake of a request. */
const Problem = record('Problem', {
  field: { ...ErrorField, description: 'As `field` of the error.' },
  code: { ...ErrorCodeText, description: 'As `code` of the error.' },
  error: { type: 'string', minLength: 1, description: 'German text for people.' },
  message: { type: 'string', minLength: 1, description: 'The same in English.' },
});

/** The shape of every error body. */
export const ErrorBody = {
  type: 'object',
  title: 'Error',
  additionalProperties: false,
  required: ['error', 'message', 'code', 'request_id', 'doc'],
  properties: {
    error: { type: 'string', minLength: 1, description: 'German text for people; may be reworded.' },
    message: { type: 'string', minLength: 1, description: 'The same in English.' },
    field: {
      ...ErrorField,
      description:
        'What is wrong: a JSON Pointer into the body (RFC 6901), such as `/attachments/0/filename`, or the name of a parameter or ' +
        'header. Absent when it is not one field.',
    },
    problems: {
      type: 'array',
      minItems: 2,
      maxItems: MAX_PROBLEMS,
      items: Problem,
      description:
        'All mistakes that are known, when there are several; the one above is the first. Those of a body are known once parameters and ' +
        'headers are right. Long names and values leave room for fewer.',
    },
    code: {
      ...ErrorCodeText,
      description:
        'Stable code for programs. `x-error-codes` of an operation lists its codes by status; new codes may be added.',
    },
    details: {
      type: 'string',
      description:
        'After a failed send: the reply of the mail server or the network error, in English. With `events_expired`: the id of ' +
        'the event to continue after.',
    },
    id: {
      ...Uuid,
      description:
        'After a failed send: the id of the email, for `GET /api/emails/{id}`. With `commit_unknown`: the id of the object that ' +
        'may have been created.',
    },
    new_emails: NewEmails,
    request_id: { title: 'RequestId', type: 'string', description: 'The value of `X-Request-Id`.' },
    doc: { title: 'ErrorDoc', type: 'string', description: 'Path of the page about the code.' },
  },
} as const;

/** Errors of operations that delete for good: the time must be certain, and the files within reach. */
export const DELETION_ERRORS = [
  'storage_mismatch',
  'storage_unavailable',
  'clock_skewed',
  'clock_in_doubt',
] as const satisfies readonly ErrorCode[];

/** Errors that any operation may return; the document's introduction describes those that come before routing. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'unknown_parameter',
  'unknown_header',
  'internal_error',
  'shutting_down',
];

/** Errors that any operation may return that needs the secret or a key. */
const LOGIN_ERRORS: readonly ErrorCode[] = [
  'missing_credentials',
  'expired_key',
  'revoked_key',
  'too_many_failed_logins',
  'rate_limited',
  'cross_site_request',
  'database_unavailable',
];

/** Codes that the introduction of the document lists, since any operation may answer with them, or any that needs the secret or a key. */
export const SHARED_CODES: ReadonlySet<ErrorCode> = new Set([
  ...COMMON_ERRORS,
  ...LOGIN_ERRORS,
  'invalid_credentials',
  'forbidden_right',
]);

/** Header field of every answer with status 429 or 503. */
export const RETRY_AFTER = {
  'Retry-After': { type: 'integer', minimum: 1, description: 'In seconds.' },
} as const;

/** Header fields of errors. */
export const ERROR_HEADERS = {
  'Retry-After': {
    ...RETRY_AFTER['Retry-After'],
    description: 'In seconds; with 429, 503, and 409 when the code is temporary.',
  },
  'WWW-Authenticate': { type: 'string', pattern: '^Bearer', description: 'With 401 (RFC 6750 §3).' },
  'Content-Range': {
    type: 'string',
    description: 'With 416: `bytes */` and the size of the file (RFC 9110 §14.4).',
  },
} as const;

/** The `response` entries of the errors of one operation, grouped by status; the document has one answer for all of them, see document/error-answers.ts. */
export function errorResponses(...codes: readonly ErrorCode[]): Record<number, object> {
  return codes.includes('invalid_credentials')
    ? anyKeyErrorResponses(...codes, 'forbidden_right')
    : anyKeyErrorResponses(...codes);
}

/** Those of an operation that needs no right. */
export function anyKeyErrorResponses(...codes: readonly ErrorCode[]): Record<number, object> {
  const byStatus = new Map<number, ErrorCode[]>();
  const login: readonly ErrorCode[] = codes.includes('invalid_credentials') ? LOGIN_ERRORS : [];
  for (const code of new Set([...codes, ...login, ...COMMON_ERRORS])) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, errorResponse(status, group.sort())]),
  );
}

export function errorResponse(status: number, codes: readonly ErrorCode[]): object {
  return {
    description: `${STATUS_CODES[status]}.`,
    content: {
      'application/json': {
        schema: { allOf: [ErrorBody, { type: 'object', properties: { code: { enum: codes } } }] },
      },
    },
  };
}

/** The codes that the schema of an error answer lists; null for any other schema. */
export function codesOf(schema: unknown): readonly ErrorCode[] | null {
  const { allOf } = Object(schema) as {
    allOf?: readonly [unknown, { properties: { code: { enum: ErrorCode[] } } }];
  };
  return allOf?.[1].properties.code.enum ?? null;
}
