/**
 * Bearer authentication (RFC 6750 §2.1) against the shared secret.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { onRequestHookHandler } from 'fastify';
import { ServiceError } from '../../core/errors.ts';

/** Case-insensitive scheme (RFC 9110 §11.1), then one token. */
const BEARER = /^bearer +(\S+) *$/i;

/**
 * Makes the hook that refuses requests without one of `secrets`; it runs before the body is read. Several secrets are
 * accepted so that a secret can be changed without a gap. Throws TypeError when there is none or one is empty.
 */
export function createAuthenticator(secrets: readonly string[]): onRequestHookHandler {
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
    throw new TypeError('at least one API secret is needed, and none may be empty');
  }
  const expected = secrets.map((secret) => sha256(Buffer.from(secret, 'utf8')));

  return (request, _reply, done) => {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    done(token !== undefined && matches(token, expected) ? undefined : new ServiceError('unauthorized'));
  };
}

/** Hashing both sides gives equal lengths, so that the time taken tells neither the content nor the length. */
function matches(token: string, expected: readonly Buffer[]): boolean {
  // Node.js hands header values over as Latin-1; this gets the bytes back.
  const given = sha256(Buffer.from(token, 'latin1'));
  let found = false;
  for (const candidate of expected) found = timingSafeEqual(given, candidate) || found;
  return found;
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
