/**
 * The access log: a line for each request. It contains the route, not the path, which may contain an address; and nothing that may contain
 * a secret: no header fields, no bodies, and no paths of routes that a token in the path opens.
 */
import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../base/basics.ts';
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
        ...(lines === 'paths' && isSecured(answered) ? { path: pathOf(request) } : {}),
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

/** With the parameters that the route has: any other may be a secret that its caller put there by mistake. */
function pathOf({ url, routeOptions }: FastifyRequest): string {
  const [path = '', query] = url.split(/\?(.*)/s, 2);
  if (query === undefined) return path;
  const schema = routeOptions.schema?.querystring as { readonly properties?: object } | undefined;
  const shown = query.split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1);
    return Object.hasOwn(schema?.properties ?? {}, name) ? pair : '…';
  });
  return `${path}?${shown.join('&')}`;
}

/** Like `actor` of the security log; the security log also has the operator's name for the key. */
const toName = (author: Author): object =>
  author.kind === 'key' ? { key: author.id } : author.kind === 'secret' ? { credential: author.number } : {};
