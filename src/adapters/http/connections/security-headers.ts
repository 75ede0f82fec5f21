/**
 * Headers of every answer: what keeps browsers from doing anything with it but showing it, and the name of the request.
 */
import type { FastifyReply } from 'fastify';

/** For JSON: nothing may be loaded, and no page may frame it. */
export const API_CSP = "default-src 'none'; frame-ancestors 'none'";

/** For files that strangers sent: even when opened, no script, no form, no origin. */
export const FILE_CSP = "sandbox; default-src 'none'";

/** Answers hold mail: no cache keeps them, and no type is guessed. There are no CORS headers, so no other origin reads them. */
export function setAnswerHeaders(reply: FastifyReply): void {
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-security-policy', API_CSP);
  reply.header('cache-control', 'no-store');
  reply.header('x-request-id', reply.request.id);
}
