/**
 * The error answers of operations in the OpenAPI document: one for each status, and the codes beside the operation. Spelt out for each operation,
 * they were two thirds of the document, and generators made a type of each list of codes.
 */
import { ERRORS, type ErrorCode } from '../../core/error-registry.ts';
import { ServiceError, type ServiceErrorOptions } from '../../core/errors.ts';
import { codesOf, COMMON_ERRORS, ErrorBody, SHARED_CODES } from '../../platform/schemas/error-schemas.ts';
import { toErrorJson } from '../../platform/http/answers/error-json.ts';
import { JSON_BODY_ERRORS } from '../../platform/http/body/json-body.ts';
import { operationsOf, type Answer, type Node, type Operation, type Paths } from './components.ts';
import { EMAIL, REQUEST } from './example-story.ts';

/** What the answer of a status shows. */
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

/** Throws Error for a status without an example. */
export function shortenErrors(paths: Paths): void {
  for (const operation of operationsOf(paths)) {
    const codes = Object.entries(operation.responses).flatMap(([status, answer]) => shorten(status, answer));
    const shared = codesOfIntroduction(operation, codes.includes('invalid_json'));
    const own = codes.filter((code) => !shared.has(code));
    // That a fault of the service is answered with 500, by any operation, is in the introduction.
    if (!own.some((code) => ERRORS[code].status === 500)) delete operation.responses['500'];
    if (own.length === 0) continue;
    const node: Node = operation;
    node['x-error-codes'] = own;
  }
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

/** Returns its codes; none for an answer that is no error. */
function shorten(status: string, answer: Answer): readonly ErrorCode[] {
  const media = answer.content?.['application/json'];
  const codes = codesOf(media?.schema);
  if (media === undefined || codes === null) return [];
  const [code, options] = SHOWN[Number(status)] ?? [];
  if (code === undefined) throw new Error(`no example for an error with the status ${status}`);
  const node: Node = answer;
  const example = toErrorJson(new ServiceError(code, options), { id: REQUEST, schema: { body: {} } });
  node['content'] = { 'application/json': { schema: structuredClone<Node>(ErrorBody), example } };
  return codes;
}
