/** The cookie of a session (RFC 6265). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parse, serialize } from 'cookie';

export const SESSION_COOKIE = 'email_worker_session';

/** Over https with the prefix that stops other hosts of the same domain from setting the cookie (RFC 6265bis §4.1.3.2). */
const nameFor = ({ protocol }: FastifyRequest): string =>
  protocol === 'https' ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;

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
