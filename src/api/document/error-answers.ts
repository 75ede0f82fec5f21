/**
 * The errors of operations in the OpenAPI document: one answer for all of them, and the codes beside the operation. An answer for each status of
 * each operation was an eighth of the document, and generators made a type of each list of codes.
 */
import { ERRORS, type ErrorCode } from '../../core/error-registry.ts';
import { ServiceError, type ServiceErrorOptions } from '../../core/errors.ts';
import {
  codesOf,
  COMMON_ERRORS,
  ERROR_HEADERS,
  ErrorBody,
  SHARED_CODES,
} from '../../platform/schemas/error-schemas.ts';
import { toErrorJson } from '../../platform/http/answers/error-json.ts';
import { JSON_BODY_ERRORS } from '../../platform/http/body/json-body.ts';
import { operationsOf, type Answer, type Node, type Operation, type Paths } from './components.ts';
import { EMAIL, REQUEST } from './example-story.ts';

/** The examples of the answer, by status. */
const SHOWN: Readonly<Record<number, readonly [code: ErrorCode, options?: ServiceErrorOptions]>> = {
  400: ['invalid_address', { values: { field: 'to', value: 'ann@' } }],
  401: ['invalid_credentials'],
  403: ['forbidden_right', { values: { right: 'send' } }],
  404: ['email_not_found'],
  408: ['request_timeout'],
  409: ['idempotency_key_reused'],
  410: ['email_deleted'],
  412: ['precondition_failed'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  416: ['range_not_satisfiable'],
  422: ['recipient_unsubscribed', { values: { value: 'ann@example.com', list: 'newsletter' } }],
  428: ['version_required'],
  429: ['rate_limited'],
  500: ['send_failed', { details: '550 5.7.1 refused', emailId: EMAIL }],
  503: ['database_unavailable'],
};

/** Replaces the error answers of each operation with one, `default`, and adds its codes by status as `x-error-codes`. */
export function shortenErrors(paths: Paths): void {
  for (const operation of operationsOf(paths)) {
    const codes = Object.entries(operation.responses).flatMap(([status, { content }]) => {
      const listed = codesOf(content?.['application/json']?.schema);
      if (listed !== null) delete operation.responses[status];
      return listed ?? [];
    });
    operation.responses['default'] = errorAnswer();
    const shared = codesOfIntroduction(operation, codes.includes('invalid_json'));
    const own = codes.filter((code) => !shared.has(code));
    if (own.length === 0) continue;
    const node: Node = operation;
    node['x-error-codes'] = byStatus(own);
  }
}

function byStatus(codes: readonly ErrorCode[]): Readonly<Record<number, readonly ErrorCode[]>> {
  const groups: Record<number, ErrorCode[]> = {};
  for (const code of codes) (groups[ERRORS[code].status] ??= []).push(code);
  return groups;
}

/**
 * The codes that the introduction of the document lists for an operation like this one.
 *
 * @param takesJson it reads a body in JSON, even if only to refuse its fields
 */
export function codesOfIntroduction(
  { security }: Pick<Operation, 'security'>,
  takesJson: boolean,
): ReadonlySet<ErrorCode> {
  // What is said of operations that need the secret is not said of one that does not.
  return new Set([
    ...(security?.length === 0 ? COMMON_ERRORS : SHARED_CODES),
    ...(takesJson ? JSON_BODY_ERRORS : []),
  ]);
}

function errorAnswer(): Answer {
  const examples = Object.entries(SHOWN).map(([status, [code, options]]) => [
    status,
    { value: toErrorJson(new ServiceError(code, options), { id: REQUEST, schema: { body: {} } }) },
  ]);
  return {
    description: 'An error. Its status follows from its code.',
    headers: ERROR_HEADERS,
    content: {
      'application/json': {
        schema: structuredClone<Node>(ErrorBody),
        examples: Object.fromEntries(examples),
      },
    },
  };
}
