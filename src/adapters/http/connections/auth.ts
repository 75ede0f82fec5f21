/**
 * Bearer authentication (RFC 6750 §2.1) against the shared secret.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { HttpActor } from '../../../app/audit-operations.ts';
import { ServiceError } from '../../../core/errors.ts';
import { clientAddressOf } from './client-address.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { LoginFailures } from './login-failures.ts';

/** Case-insensitive scheme (RFC 9110 §11.1), then one token. */
const BEARER = /^bearer +(\S+) *$/i;

/** Which secret each request that got in has shown, from 1. */
const credentials = new WeakMap<IncomingMessage, number>();

/** Whose request it is; for requests that got in. */
export function actorOf(request: FastifyRequest): HttpActor {
  return { by: 'http', address: clientAddressOf(request), credential: credentials.get(request.raw) ?? 0 };
}

/**
 * Makes the hook that refuses requests without one of `secrets`; it runs before the body is read. Several secrets are
 * accepted so that a secret can be changed without a gap. A connection with a right one keeps its slot. Throws TypeError
 * when there is none or one is empty.
 */
export function createAuthenticator(
  secrets: readonly string[],
  { failures, slots }: { readonly failures: LoginFailures; readonly slots: ConnectionSlots },
): onRequestHookHandler {
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
    throw new TypeError('at least one API secret is needed, and none may be empty');
  }
  const expected = secrets.map((secret) => sha256(Buffer.from(secret, 'utf8')));

  return (request, reply, done) => {
    const { authorization } = request.headers;
    const token = BEARER.exec(authorization ?? '')?.[1];
    const secret = token === undefined ? 0 : whichMatches(token, expected);
    if (secret > 0) {
      slots.keep(request.raw.socket);
      credentials.set(request.raw, secret);
      done();
      return;
    }
    const reason = authorization === undefined ? 'missing' : 'wrong';
    const retryAfterSeconds = failures.note(clientAddressOf(request), reason);
    if (retryAfterSeconds === null) done(new ServiceError('unauthorized'));
    else {
      // Each further guess costs a connection.
      reply.header('connection', 'close');
      done(new ServiceError('too_many_failed_logins', { retryAfterSeconds }));
    }
  };
}

/**
 * From 1; 0 for none. Hashing both sides gives equal lengths, so that the time taken tells neither the content nor the length.
 */
function whichMatches(token: string, expected: readonly Buffer[]): number {
  // Node.js hands header values over as Latin-1; this gets the bytes back.
  const given = sha256(Buffer.from(token, 'latin1'));
  let found = 0;
  for (const [index, candidate] of expected.entries()) {
    if (timingSafeEqual(given, candidate)) found = index + 1;
  }
  return found;
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
