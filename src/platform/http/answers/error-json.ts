/** The body of every error answer. */
import type { FastifySchema } from 'fastify';
import type { ErrorCode } from '../../../core/error-registry.ts';
import type { ServiceError } from '../../../core/errors.ts';
import { toNewEmailJson } from '../../schemas/new-email.ts';

/** `details` as specified for a failed send, and `id` of that send. */
export interface ErrorJson {
  readonly error: string;
  readonly message: string;
  readonly field?: string;
  readonly details?: string;
  readonly id?: string;
  readonly new_emails?: readonly object[];
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly doc: string;
}

/** The request of the error; without a schema for one that reached no route. */
interface FailedRequest {
  readonly id: string;
  readonly schema?: FastifySchema | undefined;
}

export function toErrorJson(error: ServiceError, { id, schema }: FailedRequest): ErrorJson {
  const { code, field } = error;
  return {
    error: error.text,
    message: error.englishText,
    ...(field === null ? {} : { field: toField(code, field, schema) }),
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.emailId === undefined ? {} : { id: error.emailId }),
    ...(error.newEmails === undefined ? {} : { new_emails: error.newEmails.map(toNewEmailJson) }),
    code,
    request_id: id,
    // Served by this service; see document/guide.ts.
    doc: `/api/docs/errors#${code}`,
  };
}

/** Errors about what stands outside of a body. */
const OUTSIDE: ReadonlySet<ErrorCode> = new Set([
  'unknown_parameter',
  'unknown_header',
  'invalid_webhook_header',
]);

/** A pointer into the body (RFC 6901), or the name of a parameter or header. */
function toField(code: ErrorCode, path: string, schema: FastifySchema = {}): string {
  const [first = path] = path.split(/[.[]/, 1);
  const isNamed = [schema.params, schema.querystring, schema.headers].some((part) =>
    namesOf(part).includes(first.toLowerCase()),
  );
  const isOutside = schema.body === undefined || OUTSIDE.has(code) || first.includes(':');
  return isNamed || isOutside ? path : toPointer(path);
}

const namesOf = (schema: unknown): readonly string[] =>
  Object.keys((Object(schema) as { properties?: object }).properties ?? {}).map((name) => name.toLowerCase());

/** `attachments[0].filename` is `/attachments/0/filename`. */
const toPointer = (path: string): string =>
  path
    .split(/\.|\[(\d+)\]/)
    .filter((part) => part !== undefined && part !== '')
    .map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
