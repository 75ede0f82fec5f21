/**
 * The access log: a line for each request. It contains the route, not the path, which may contain an address; and nothing that may contain
 * a secret: no header fields, no bodies, and no paths of routes that a token in the path opens.
 */
import type { Logger } from '../../../app/base/basics.ts';
import type { Author } from '../../../core/keys/author.ts';
import { findShownKey } from './auth.ts';
import type { AnsweredRequest, RequestObserver } from './answered-request.ts';
import { clientAddressOf } from './client-address.ts';
import { needsRight } from './rights.ts';

/** `routes` leaves the path out; `paths` writes it, with its query, for routes that need a right. */
export type AccessLines = 'routes' | 'paths';

export function createAccessLines(logger: Pick<Logger, 'info'>, lines: AccessLines): RequestObserver {
  return (answered) => {
    const { request, route, status, durationMs, sizeBytes } = answered;
    const shown = findShownKey(request);
    logger.info(
      {
        log: 'access',
        requestId: request.id,
        address: clientAddressOf(request),
        method: request.method,
        route,
        ...(lines === 'paths' && isSecured(answered) ? { path: request.url } : {}),
        status,
        ms: Math.round(durationMs * 10) / 10,
        bytes: sizeBytes,
        ...(shown === null ? {} : { by: toName(shown.caller.author) }),
      },
      'request',
    );
  };
}

/** A path without a route may contain a token, and a typo. */
const isSecured = ({ request }: AnsweredRequest): boolean => needsRight(request.routeOptions.schema);

/** Like `actor` of the security log; the security log also has the operator's name for the key. */
const toName = (author: Author): object =>
  author.kind === 'key' ? { key: author.id } : author.kind === 'secret' ? { credential: author.number } : {};
