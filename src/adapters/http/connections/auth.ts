/**
 * Bearer authentication (RFC 6750 §2.1), against the shared secret and the keys.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { HttpActor } from '../../../app/audit-operations.ts';
import type { KeyRing, ShownKey } from '../../../app/keys/key-ring.ts';
import { ServiceError } from '../../../core/errors.ts';
import { withEverything, type Caller } from '../../../core/keys/caller.ts';
import { allows } from '../../../core/keys/rights.ts';
import { rightsOf } from './rights.ts';
import { clientAddressOf } from './client-address.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { LoginFailures } from './login-failures.ts';

/** Case-insensitive scheme (RFC 9110 §11.1), then one token. */
const BEARER = /^bearer +(\S+) *$/i;

/** Of each request that got in. */
const shownKeys = new WeakMap<IncomingMessage, ShownKey>();

/** What the request has shown. Throws for one that did not pass the authenticator: its route is not a secured one. */
export function shownKeyOf({ raw }: FastifyRequest): ShownKey {
  const shown = shownKeys.get(raw);
  if (shown === undefined) throw new Error('a request asks for its caller before it was authenticated');
  return shown;
}

/** Who makes the request, and what they may do. */
export const callerOf = (request: FastifyRequest): Caller => shownKeyOf(request).caller;

/** Whose request it is, as the log of operators' acts has it. */
export function actorOf(request: FastifyRequest): HttpActor {
  const { author } = callerOf(request);
  const address = clientAddressOf(request);
  return author.kind === 'secret'
    ? { by: 'http', address, credential: author.number }
    : { by: 'http', address, key: author };
}

export interface AuthenticatorParts {
  readonly failures: LoginFailures;
  readonly slots: ConnectionSlots;
  readonly keys: Pick<KeyRing, 'find'>;
}

/**
 * Makes the hook that refuses requests without one of `secrets` and without a key, and those whose key lacks the right of their
 * route; it runs before the body is read. Several secrets are accepted so that a secret can be changed without a gap. A connection
 * with a right one keeps its slot. Throws TypeError when there is no secret or one is empty.
 */
export function createAuthenticator(
  secrets: readonly string[],
  { failures, slots, keys }: AuthenticatorParts,
): onRequestHookHandler {
  if (secrets.length === 0 || secrets.some((secret) => secret.trim() === '')) {
    throw new TypeError('at least one API secret is needed, and none may be empty');
  }
  const expected = secrets.map((secret) => sha256(Buffer.from(secret, 'utf8')));
  const holders = secrets.map((_, index): ShownKey => ({
    caller: withEverything({ kind: 'secret', number: index + 1 }),
    isValid: () => true,
  }));

  function refuse(request: FastifyRequest, reply: FastifyReply): ServiceError {
    const reason = request.headers.authorization === undefined ? 'missing' : 'wrong';
    const retryAfterSeconds = failures.note(clientAddressOf(request), reason);
    if (retryAfterSeconds === null) return new ServiceError('unauthorized');
    // Each further guess costs a connection.
    reply.header('connection', 'close');
    return new ServiceError('too_many_failed_logins', { retryAfterSeconds });
  }

  /** What is wrong, if anything. */
  function judge(request: FastifyRequest, reply: FastifyReply, shown: ShownKey | null): Error | undefined {
    if (shown === null) return refuse(request, reply);
    slots.keep(request.raw.socket);
    shownKeys.set(request.raw, shown);
    const missing = rightsOf(request.routeOptions.schema).find(
      (right) => !allows(shown.caller.rights, right),
    );
    return missing === undefined
      ? undefined
      : new ServiceError('forbidden_right', { values: { right: missing } });
  }

  return (request, reply, done) => {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const holder = token === undefined ? undefined : holders[whichMatches(token, expected) - 1];
    const found = token === undefined ? null : (holder ?? keys.find(token));
    if (!(found instanceof Promise)) {
      done(judge(request, reply, found));
      return;
    }
    found.then(
      (shown) => done(judge(request, reply, shown)),
      (error: Error) => done(error),
    );
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
