/**
 * Requests with a session must come from our own page. A browser adds the cookie by itself, so the request of another site would have it as
 * well (cross-site request forgery), were it not for `SameSite=Strict` and for the checks here.
 */
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../../core/errors.ts';

/**
 * The page sends this header with every request that changes something. A form can't, and a script of another origin has to ask first: we
 * never allow it.
 */
const PAGE_HEADER = 'x-requested-with';
const PAGE_HEADER_VALUE = 'email-worker';

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Throws `cross_site_request` for a request that the browser marks as coming from elsewhere: by Sec-Fetch-Site (W3C Fetch Metadata), which
 * every browser sends over https and to this machine, else by Origin (RFC 6454 §7). A request with neither does not come from a browser, or
 * is a simple GET.
 */
export function requireOwnPage(request: FastifyRequest): void {
  const { 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) {
    // `none`: typed, or a bookmark.
    if (site !== 'same-origin' && site !== 'none') throw new ServiceError('cross_site_request');
    return;
  }
  requireOwnOrigin(request);
}

/**
 * Throws `cross_site_request` for a request whose Origin is another one: a page of a stranger, also one whose name leads to this machine (DNS
 * rebinding). Programs send no Origin.
 */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  // Proxies may terminate https for us: hosts are compared, not schemes.
  const isOwn = URL.canParse(origin) && new URL(origin).host === request.host.toLowerCase();
  if (!isOwn) throw new ServiceError('cross_site_request');
}

/** Throws `cross_site_request` when the request changes something and lacks the header of our page. */
export function requirePageHeader({ method, headers }: FastifyRequest): void {
  if (SAFE_METHODS.has(method)) return;
  if (headers[PAGE_HEADER] !== PAGE_HEADER_VALUE) throw new ServiceError('cross_site_request');
}
