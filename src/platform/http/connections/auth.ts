/**
 * Identifies the caller of a request: by bearer authentication (RFC 6750 §2.1), with the shared secret or a key, or by the session of a
 * browser. Each of them yields a `ShownKey`.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { HttpActor } from '../../access/record-act.ts';
import type { AccessLog } from '../../access/access-log.ts';
import type { KeyRefusal, KeyRing, ShownKey } from '../../access/key-ring.ts';
import { createSecretHolders, createSecretMatcher } from '../../access/secret-holders.ts';
import type { SessionUseCases } from '../../access/session-use-cases.ts';
import { nameAsker } from '../../base/request-scope.ts';
import { anyOfTexts } from '../../../core/error-words.ts';
import { ServiceError } from '../../../core/errors.ts';
import { parseApiKey } from '../../../core/keys/api-key.ts';
import { keyIdOf as keyIdOfCaller, type Caller } from '../../../core/keys/caller.ts';
import { allows, type Right } from '../../../core/keys/rights.ts';
import { missingRights } from './rights.ts';
import { clientAddressOf } from './client-address.ts';
import { shareHolderOf, type CallerShares } from './caller-shares.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import { requireOwnPage, requirePageHeader } from './own-page.ts';
import type { LoginFailure, LoginFailures } from './login-failures.ts';
import { browserOf, readSessionCookie } from './session-cookie.ts';

/** Case-insensitive scheme (RFC 9110 §11.1), then one token. */
const BEARER = /^bearer +(\S+) *$/i;

/** Of each authenticated request. */
const shownKeys = new WeakMap<IncomingMessage, ShownKey>();

/** The key or secret of the request; null for one that was not authenticated, or did not need to be. */
export const findShownKey = ({ raw }: FastifyRequest): ShownKey | null => shownKeys.get(raw) ?? null;

/** The key or secret of the request. Throws when the request did not pass the authenticator: its route is not a secured one. */
export function shownKeyOf(request: FastifyRequest): ShownKey {
  const shown = findShownKey(request);
  if (shown === null) throw new Error('a request asks for its caller before it was authenticated');
  return shown;
}

/** The caller of the request, with its rights. */
export const callerOf = (request: FastifyRequest): Caller => shownKeyOf(request).caller;

/** The id of the request's key; null: a secret, or none. */
export function keyIdOf(request: FastifyRequest): string | null {
  const shown = findShownKey(request);
  return shown === null ? null : keyIdOfCaller(shown.caller);
}

/** The caller of the request, as the log of operators' acts records it. */
export const actorOf = (request: FastifyRequest): HttpActor => toActor(request, callerOf(request));

export function toActor(request: FastifyRequest, { author }: Caller): HttpActor {
  const address = clientAddressOf(request);
  return author.kind === 'secret'
    ? { by: 'http', address, credential: author.number }
    : { by: 'http', address, key: author };
}

export interface AuthenticatorParts {
  readonly failures: LoginFailures;
  readonly slots: ConnectionSlots;
  readonly shares: CallerShares;
  readonly keys: Pick<KeyRing, 'find' | 'whyRefused'>;
  readonly sessions: Pick<SessionUseCases, 'find'>;
  readonly access: AccessLog;
}

/** The credentials of a request, looked up; `found` null: there are none, or no valid ones. */
interface Shown {
  readonly found: ShownKey | null | Promise<ShownKey | null>;
  /** The failure to report when nothing was found. */
  readonly failure: LoginFailure;
}

/** True when the request has credentials, right or wrong. */
export const showsAnything = (request: FastifyRequest): boolean =>
  request.headers.authorization !== undefined || readSessionCookie(request) !== null;

/**
 * Returns the hook that refuses requests without one of `secrets`, a key or a session, those whose key lacks the right of their route,
 * or which ask for more than their share; it runs before the body is read. Several secrets are accepted so that a secret can be changed without a gap. A connection with valid
 * credentials keeps its slot. A bearer token takes precedence over a cookie. Throws TypeError when there is no secret or one is empty.
 */
export function createAuthenticator(
  secrets: readonly string[],
  { failures, slots, shares, keys, sessions, access }: AuthenticatorParts,
): onRequestHookHandler {
  const holderOf = createSecretMatcher(createSecretHolders(secrets));

  function look(request: FastifyRequest): Shown {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const token = BEARER.exec(authorization)?.[1];
      if (token === undefined) return { found: null, failure: 'wrong' };
      // Node.js returns header values as Latin-1; this restores the bytes.
      const holder = holderOf(Buffer.from(token, 'latin1'));
      return { found: holder ?? keys.find(token), failure: 'wrong' };
    }
    const cookie = readSessionCookie(request);
    if (cookie === null) return { found: null, failure: 'missing' };
    requireOwnPage(request);
    requirePageHeader(request);
    return { found: sessions.find(cookie, browserOf(request)), failure: 'ended' };
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, reason: LoginFailure): ServiceError {
    const address = clientAddressOf(request);
    const code =
      reason === 'missing' ? 'missing_credentials' : (whyRefused(request) ?? 'invalid_credentials');
    if (reason === 'wrong') access.noteLogin(address, keyIdIn(request), code);
    const retryAfterSeconds = failures.note(address, reason);
    if (retryAfterSeconds === null) return new ServiceError(code);
    // Each further guess costs a connection.
    reply.header('connection', 'close');
    return new ServiceError('too_many_failed_logins', { retryAfterSeconds });
  }

  function whyRefused(request: FastifyRequest): KeyRefusal | null {
    const token = tokenIn(request);
    return token === undefined ? null : keys.whyRefused(token);
  }

  /** The error, if the request must be refused. */
  function judge(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: ShownKey | null,
    failure: LoginFailure,
  ): Error | undefined {
    if (shown === null) return refuse(request, reply, failure);
    const holder = shareHolderOf(shown);
    // Beyond the share of its holder, a connection is for this request only.
    if (!slots.keep(request.raw.socket, holder)) reply.header('connection', 'close');
    shownKeys.set(request.raw, shown);
    nameAsker(holder);
    const tooMuch = shares.take(request, reply, shown);
    if (tooMuch !== undefined) return tooMuch;
    const { caller } = shown;
    return refuseRight(caller, missingRights(caller.rights, request.routeOptions.schema), access);
  }

  return (request, reply, done) => {
    let shown: Shown;
    try {
      shown = look(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    const { found, failure } = shown;
    if (!(found instanceof Promise)) {
      done(judge(request, reply, found, failure));
      return;
    }
    found.then(
      (one) => done(judge(request, reply, one, failure)),
      (error: Error) => done(error),
    );
  };
}

/** Checks a right that only some requests of a route need. Throws `forbidden_right`. */
export function requireRight(request: FastifyRequest, right: Right, access: AccessLog): void {
  const caller = callerOf(request);
  const refused = refuseRight(caller, allows(caller.rights, right) ? [] : [right], access);
  if (refused !== undefined) throw refused;
}

/** @param missing of several, one is enough */
function refuseRight(caller: Caller, missing: readonly Right[], access: AccessLog): ServiceError | undefined {
  const [least] = missing;
  if (least === undefined) return undefined;
  access.noteRight(caller.author, least);
  return new ServiceError('forbidden_right', {
    values: { right: anyOfTexts(missing.map((right) => ({ de: right, en: right }))) },
  });
}

const tokenIn = ({ headers }: FastifyRequest): string | undefined =>
  BEARER.exec(headers.authorization ?? '')?.[1];

/** The key id in the request's token, not verified; null when the token is not a key. */
function keyIdIn(request: FastifyRequest): string | null {
  const token = tokenIn(request);
  return token === undefined ? null : (parseApiKey(token)?.id ?? null);
}
