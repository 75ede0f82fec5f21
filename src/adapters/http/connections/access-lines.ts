/**
 * The access log: a line for each request. It names the route, not the path, which may hold an address; and never what a secret may
 * stand in: header fields, bodies, and the paths of routes that a token in them opens.
 */
import type { Logger } from '../../../app/base/basics.ts';
import type { Author } from '../../../core/keys/author.ts';
import { findShownKey } from './auth.ts';
import type { AnsweredRequest, RequestObserver } from './answered-request.ts';
import { clientAddressOf } from './client-address.ts';
import { needsRight } from './rights.ts';

/** `routes` leaves the path out; `paths` writes it, with its query, where a right is needed. */
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

/** A path that no route takes may be one with a token and a typo. */
const isSecured = ({ request }: AnsweredRequest): boolean => needsRight(request.routeOptions.schema);

/** As `actor` of the security log has it; what an operator called a key is told there. */
const toName = (author: Author): object =>
  author.kind === 'key' ? { key: author.id } : author.kind === 'secret' ? { credential: author.number } : {};
