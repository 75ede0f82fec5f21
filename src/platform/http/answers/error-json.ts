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
  readonly problems?: readonly ProblemJson[];
  readonly details?: string;
  readonly id?: string;
  readonly new_emails?: readonly object[];
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly doc: string;
}

/** One mistake of a request. */
interface ProblemJson {
  readonly field: string;
  readonly code: ErrorCode;
  readonly error: string;
  readonly message: string;
}

/** Characters of all problems of an answer. They repeat names and values of the request, which may be long. */
const MAX_PROBLEMS_CHARS = 16_384;

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
    ...(field === null ? {} : { field: toField(code, field, schema), ...toProblems(error, schema) }),
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.emailId === undefined ? {} : { id: error.emailId }),
    ...(error.newEmails === undefined ? {} : { new_emails: error.newEmails.map(toNewEmailJson) }),
    code,
    request_id: id,
    // Served by this service; see document/guide.ts.
    doc: `/api/docs/errors#${code}`,
  };
}

/** The mistake itself, and the others as far as there is room; nothing when the text of the answer has told all. */
function toProblems(error: ServiceError, schema: FastifySchema | undefined): Pick<ErrorJson, 'problems'> {
  const problems: ProblemJson[] = [];
  let left = MAX_PROBLEMS_CHARS;
  for (const { code, field, text, englishText } of [error, ...error.others]) {
    left -= 2 * (field?.length ?? 0) + text.length + englishText.length;
    if (left < 0) break;
    problems.push({
      field: toField(code, field ?? '', schema),
      code,
      error: text,
      message: englishText,
    });
  }
  return new Set(problems.map((one) => one.error)).size > 1 ? { problems } : {};
}

/** Errors about what stands outside of a body. */
const OUTSIDE: ReadonlySet<ErrorCode> = new Set([
  'unknown_parameter',
  'unknown_header',
  'invalid_idempotency_key',
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

/** An index, or a name with its escapes. */
const STEP = /\[(\d+)\]|((?:\\.|[^\\.[]|\[(?!\d+\]))+)/gs;

/** `attachments[0].filename` is `/attachments/0/filename`. */
const toPointer = (path: string): string =>
  [...path.matchAll(STEP)]
    .map(([, index, name = '']) => index ?? name.replaceAll(/\\(.)/gs, '$1'))
    .map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
