/** Headers of every answer: those that keep browsers from doing anything with it but showing it, and the request ID. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** For JSON: nothing may be loaded, and no page may frame it. */
export const API_CSP = "default-src 'none'; frame-ancestors 'none'";

/** For files that strangers sent: even when opened they have no script, no form, no origin. */
export const FILE_CSP = "sandbox; default-src 'none'";

/**
 * Of every answer, pages and mail included: another site gets no hold of the window, can't embed the answer, and is not sent the address,
 * which may contain a token.
 */
const ISOLATING_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/**
 * Answers contain mail: no cache may keep them, and no type may be guessed. There are no CORS headers, so no other origin can read them.
 */
export function setAnswerHeaders(reply: FastifyReply): void {
  reply.headers(ISOLATING_HEADERS);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-security-policy', API_CSP);
  reply.header('cache-control', 'no-store');
  reply.header('x-request-id', reply.request.id);
}

const DAY_SECONDS = 86_400;

/** For browsers; covers this host with all of its ports. RFC 6797 §7.2: only over TLS. */
export function requireHttps(request: FastifyRequest, reply: FastifyReply, days: number): void {
  if (request.protocol === 'https')
    reply.header('strict-transport-security', `max-age=${days * DAY_SECONDS}`);
}
