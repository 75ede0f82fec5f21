/** The cookie of a session (RFC 6265), and the browser that the session is bound to. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parse, serialize } from 'cookie';
import type { SessionBrowser } from '../../access/session-ports.ts';
import { deviceOf } from '../../../core/sessions/device.ts';
import { clientAddressOf } from './client-address.ts';

export const SESSION_COOKIE = 'email_worker_session';

/** Over https with the prefix that stops other hosts of the same domain from setting the cookie (RFC 6265bis §4.1.3.2). */
const nameFor = ({ protocol }: FastifyRequest): string =>
  protocol === 'https' ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;

/**
 * Over plain http the cookie goes to every port of this host, and can be read on its way: there it is good only from the address that logged
 * in. Over https an address may change.
 */
export const browserOf = (request: FastifyRequest): SessionBrowser => ({
  device: deviceOf(request.headers['user-agent']),
  address: request.protocol === 'https' ? null : clientAddressOf(request),
});

/** null: the request has no such cookie. */
export function readSessionCookie(request: FastifyRequest): string | null {
  const { cookie } = request.headers;
  return cookie === undefined ? null : (parse(cookie)[nameFor(request)] ?? null);
}

/** No script can read the cookie, and no other site's request includes it. A token of null removes it. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, maxAgeSeconds }: { readonly token: string | null; readonly maxAgeSeconds: number },
): void {
  reply.header(
    'set-cookie',
    serialize(nameFor(request), token ?? '', {
      httpOnly: true,
      sameSite: 'strict',
      path: '/',
      secure: request.protocol === 'https',
      maxAge: token === null ? 0 : maxAgeSeconds,
    }),
  );
}
