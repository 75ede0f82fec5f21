/**
 * Finds faults in the header fields of a request, beyond those that Node.js refuses. Of some repeated fields Node.js passes the first one
 * on and drops the others; a proxy in front may have checked another one.
 */
import type { IncomingMessage } from 'node:http';
import { invalidRequest, type ServiceError } from '../../../core/errors.ts';

/** Fields that are no lists, so that each may be there at most once (RFC 9110 §5.3). */
const SINGLE = [
  'Host',
  'Authorization',
  'Content-Type',
  'Content-Disposition',
  'Idempotency-Key',
  'Last-Event-ID',
] as const;

/** RFC 9110 §7.2: `uri-host [ ":" port ]` as in RFC 3986 §3.2.2; may be empty. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9\-._~%!$&'()*+,;=]*)(?::\d*)?$/i;

/** The `invalid_request` to answer with; null when the header fields are sound. */
export function findHeaderFault({ headers, rawHeaders, httpVersion }: IncomingMessage): ServiceError | null {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  for (const field of SINGLE) {
    const name = field.toLowerCase();
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      return invalidRequest('repeated_header', { field });
    }
  }
  // RFC 9112 §3.2
  if (headers.host === undefined) return httpVersion === '1.1' ? invalidRequest('missing_host') : null;
  return HOST.test(headers.host) ? null : invalidRequest('invalid_host');
}
