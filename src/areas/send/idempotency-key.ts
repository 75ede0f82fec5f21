/**
 * The request header `Idempotency-Key` and the response header `Idempotency-Replayed`. The key is taken literally: quotes, which
 * draft-ietf-httpapi-idempotency-key-header puts around it, would be a part of it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../core/errors.ts';

/** Visible ASCII. */
const KEY = /^[!-~]{1,256}$/;

/** null when there is none. Throws `invalid_idempotency_key`. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !KEY.test(key)) throw new ServiceError('invalid_idempotency_key');
  return key;
}

export const REPLAYED_HEADER = 'idempotency-replayed';

/** For OpenAPI; `readIdempotencyKey` does the validation. */
export const IdempotencyHeaders = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      pattern: KEY.source,
      description:
        'Name of the request, chosen by the caller, such as a UUID or `invoice-4711-reminder-2`; visible ASCII characters. Of ' +
        'all requests with the same key only the first sends; a repeat gets the same response, for at least 24 hours.',
    },
  },
} as const;

/** For OpenAPI: the header of answers to a repeat. */
export const ReplayedHeader = {
  'Idempotency-Replayed': {
    type: 'boolean',
    const: true,
    description:
      'Present on the response to a repeated request: the request did nothing and got the response of the first one with its key.',
  },
} as const;
