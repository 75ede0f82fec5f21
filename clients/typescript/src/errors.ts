/** The one error of the client, and its codes. */
import type { RegisteredCode } from './generated/error-codes.ts';
import type { NewEmail, Problem } from './types.ts';

/** Codes that the service answers with. A newer service may use more, so keep a default branch. */
export type ServiceErrorCode = RegisteredCode;

/**
 * Codes of the client itself:
 * - `connection_failed`: no answer arrived, or only a part of one; `cause` has the reason.
 * - `timeout`: the answer was not complete within `timeoutMs`.
 * - `unexpected_redirect`: the answer was a redirect. It is not followed: the secret is for `url` alone.
 * - `unexpected_response`: the answer is not from the service, such as the error page of a proxy.
 * - `webhook_not_verified`: `verifyWebhook` got a request that the service did not sign, or that is too old.
 */
export type ClientErrorCode =
  'connection_failed' | 'timeout' | 'unexpected_redirect' | 'unexpected_response' | 'webhook_not_verified';

export type ErrorCode = ServiceErrorCode | ClientErrorCode;

/** @internal */
export interface ErrorFields {
  readonly code: ErrorCode;
  readonly text: string;
  readonly englishText?: string | undefined;
  readonly field?: string | undefined;
  readonly problems?: readonly Problem[] | undefined;
  readonly status?: number | undefined;
  readonly details?: string | undefined;
  readonly emailId?: string | undefined;
  readonly newEmails?: readonly NewEmail[] | undefined;
  readonly requestId?: string | null | undefined;
  readonly retryAfterMs?: number | null | undefined;
  readonly cause?: unknown;
}

/**
 * A request failed. Every method throws it, with two exceptions: a request that the caller aborts throws the reason of its signal, and an
 * argument that is wrong by itself throws a `TypeError`. Never contains the secret.
 */
export class EmailWorkerError extends Error {
  override readonly name = 'EmailWorkerError';
  /** Stable: compare this and not the text. */
  readonly code: ErrorCode;
  /** For people to read: the service's German text, or the client's English one. May be reworded. */
  readonly text: string;
  /** The same in English. */
  readonly englishText: string;
  /** What is wrong: a JSON Pointer into the body (RFC 6901), or the name of a parameter or header; null when it is not one field. */
  readonly field: string | null;
  /** All mistakes of the request that the service knows, the first one as above, also when it is the only one; empty when `field` is null. */
  readonly problems: readonly Problem[];
  /** HTTP status; null when no answer arrived. */
  readonly status: number | null;
  /** After a failed send: the message of the mail server or the network, in English. Otherwise null. */
  readonly details: string | null;
  /**
   * After a failed send: the email, which is recorded or will be. With `commit_unknown`: what may have been made, such as an email or a
   * draft. Otherwise null.
   */
  readonly emailId: string | null;
  /** With `thread_has_moved_on`: the emails that the writer has not seen, the oldest first. Otherwise empty. */
  readonly newEmails: readonly NewEmail[];
  /** `X-Request-Id` of the answer, which identifies the request in the service's log; null when no answer arrived. */
  readonly requestId: string | null;
  /** The wait that the service asks for before a repeat; null when it does not name one. */
  readonly retryAfterMs: number | null;
  /** After a failed send: a repeat with this key can't send twice. null for any other failure. */
  readonly idempotencyKey: string | null;

  /** @internal */
  constructor(fields: ErrorFields, idempotencyKey: string | null) {
    const status = fields.status ?? null;
    const details = fields.details ?? null;
    super(
      `${fields.code}${status === null ? '' : ` (${status})`}: ${fields.text}${details === null ? '' : ` (${details})`}`,
      fields.cause === undefined ? undefined : { cause: fields.cause },
    );
    this.code = fields.code;
    this.text = fields.text;
    this.englishText = fields.englishText ?? fields.text;
    this.field = fields.field ?? null;
    const { field, code, text: error } = fields;
    this.problems =
      fields.problems ?? (field === undefined ? [] : [{ field, code, error, message: this.englishText }]);
    this.status = status;
    this.details = details;
    this.emailId = fields.emailId ?? null;
    this.newEmails = fields.newEmails ?? [];
    this.requestId = fields.requestId ?? null;
    this.retryAfterMs = fields.retryAfterMs ?? null;
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * The fields of an error from an answer that is no success.
 * @internal
 */
export function readError(body: unknown, response: Response): ErrorFields {
  const common = {
    status: response.status === 0 ? undefined : response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: readRetryAfterMs(response.headers.get('retry-after'), Date.now()),
  };
  // A browser hides the status and the target of a redirect.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    return {
      ...common,
      code: 'unexpected_redirect',
      text: 'The service answered with a redirect, which is not followed. Give createClient the final URL.',
    };
  }
  const {
    error,
    message,
    field,
    code,
    details,
    id,
    new_emails: newEmails,
    problems,
  } = Object(body) as Record<string, unknown>;
  if (typeof error !== 'string' || typeof code !== 'string') {
    return {
      ...common,
      code: 'unexpected_response',
      text: 'The answer does not come from the service. Is there a proxy in between, and is the URL right?',
    };
  }
  return {
    ...common,
    code: code as ServiceErrorCode,
    text: error,
    englishText: typeof message === 'string' ? message : undefined,
    field: typeof field === 'string' ? field : undefined,
    problems: Array.isArray(problems) ? (problems as Problem[]) : undefined,
    details: typeof details === 'string' ? details : undefined,
    emailId: typeof id === 'string' ? id : undefined,
    newEmails: Array.isArray(newEmails) ? (newEmails as NewEmail[]) : undefined,
  };
}

/** RFC 9110 §10.2.3: seconds, or a moment. null when the value is neither. */
function readRetryAfterMs(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? null : Math.max(0, moment - now);
}
