/**
 * Sessions of browsers: POST /api/session logs in, GET shows who is logged in, DELETE logs out; DELETE /api/sessions logs out everywhere.
 * The session acts as the key or secret that opened it; see connections/auth.ts.
 */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { AccessLog } from '../../platform/access/access-log.ts';
import type { SecurityLog } from '../../platform/base/security-log.ts';
import type { ShownKey } from '../../platform/access/key-ring.ts';
import type { SessionUseCases } from '../../platform/access/session-use-cases.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { parseApiKey } from '../../core/keys/api-key.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../../platform/http/body/json-body.ts';
import {
  actorOf,
  callerOf,
  showsAnything,
  shownKeyOf,
  toActor,
} from '../../platform/http/connections/auth.ts';
import { clientAddressOf } from '../../platform/http/connections/client-address.ts';
import type { HttpLimits } from '../../platform/http/connections/limits.ts';
import type { HostCheck } from '../../platform/http/connections/known-host.ts';
import type { LoginFailures } from '../../platform/http/connections/login-failures.ts';
import { requireOwnPage } from '../../platform/http/connections/own-page.ts';
import {
  browserOf,
  readSessionCookie,
  setSessionCookie,
} from '../../platform/http/connections/session-cookie.ts';
import { toAuthorJson } from '../../platform/schemas/author.ts';
import { RightName } from '../../platform/schemas/right.ts';
import { anyKeyErrorResponses, errorResponses } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse, NullableTimestamp, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';

export interface SessionParts {
  readonly sessions: SessionUseCases;
  readonly failures: LoginFailures;
  readonly security: SecurityLog;
  readonly access: AccessLog;
  readonly checkHost: HostCheck;
}

/** Logging in is disabled. */
export const NO_SESSIONS: SessionUseCases = {
  openBySecret: () => Promise.resolve(null),
  openByLink: () => Promise.resolve(null),
  find: () => null,
  refresh: () => Promise.resolve(),
  end: () => Promise.resolve(),
  listOf: () => Promise.resolve([]),
  endOneOf: () => Promise.reject(new ServiceError('session_not_found')),
  endAllOf: () => Promise.resolve(0),
};

/** The length of the longest header that could contain a secret. */
const MAX_SECRET_CHARS = 2000;

const SessionSchema = record('Session', {
  name: {
    type: 'string',
    description: 'Name of the key; for the shared secret `API_SECRET` with its number.',
  },
  rights: {
    type: 'array',
    items: RightName,
    description: 'Its rights.',
  },
  accounts: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Accounts that the key may read and use; null: all accounts.',
  },
  key_id: { type: ['string', 'null'], description: 'Id of the key; null for the shared secret.' },
  expires_at: {
    ...NullableTimestamp,
    description:
      'When the session ends unless it is used before. For a bearer: when its key expires; null: never.',
  },
  limits: record('SessionLimits', {
    attachment_bytes: {
      type: 'integer',
      minimum: 0,
      description: 'Limit for all files of an email together.',
    },
    attachments: { type: 'integer', minimum: 0, description: 'Files of an email.' },
  }),
});
const CurrentSession = record('CurrentSession', { session: SessionSchema });
const EndedSessions = record('EndedSessions', {
  ended: { type: 'integer', minimum: 0, description: 'Number of sessions that were ended.' },
});

const BrowserSessions = record('BrowserSessions', {
  sessions: {
    type: 'array',
    items: record('BrowserSession', {
      id: Uuid,
      device: { type: 'string', description: 'Browser and system, as the browser names them.' },
      current: { type: 'boolean', description: 'True for the session of this request.' },
      created_at: Timestamp,
      last_used_at: { ...Timestamp, description: 'Last use, accurate to 15 minutes.' },
      expires_at: { ...Timestamp, description: 'When the session ends unless it is used before.' },
    }),
  },
});

const SessionParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The session.' } },
} as const;

const LoginBody = {
  type: 'object',
  title: 'LoginRequest',
  additionalProperties: false,
  properties: {
    secret: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_SECRET_CHARS,
      description: '`API_SECRET`, or a key. Either this or `token`.',
    },
    token: { type: 'string', minLength: 1, maxLength: 100, description: 'The token of a login link.' },
  },
} as const;

export function registerOpenSessionRoute(
  app: HttpServer,
  { limits }: HttpContext,
  parts: SessionParts,
): void {
  const { sessions, security, access } = parts;
  app.post(
    '/api/session',
    {
      schema: {
        operationId: 'openSession',
        tags: ['Sessions'],
        summary: 'Log in with a browser',
        description:
          'With the shared secret, a key, or the token of a login link, which is valid once and for an hour. The response sets a ' +
          'cookie for all requests of the page; the session has the rights of the key and ends with it.',
        security: [],
        body: LoginBody,
        response: {
          200: {
            ...jsonResponse('Logged in.', CurrentSession),
            headers: {
              'Set-Cookie': {
                type: 'string',
                description: '`email_worker_session`, HttpOnly and SameSite=Strict.',
              },
            },
          },
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'login_failed',
            'cross_site_request',
            'too_many_failed_logins',
            'database_unavailable',
          ),
        },
      },
      onRequest: (request, _reply, done) => {
        // Also with a bearer, which is not looked at here.
        parts.checkHost(request);
        // Another site must not log a browser in as someone else.
        requireOwnPage(request);
        done();
      },
      preValidation: smallJsonBody(limits),
    },
    async (request, reply) => {
      const { secret, token } = request.body;
      if ((secret === undefined) === (token === undefined))
        throw invalidRequest('exactly_one_of', { field: 'secret, token' });
      const opened =
        secret !== undefined
          ? await sessions.openBySecret(secret, browserOf(request))
          : await sessions.openByLink(token ?? '', browserOf(request));
      if (opened === null) throw refuse(request, reply, parts, secret ?? '');
      await endShownBefore(request, sessions);
      const actor = toActor(request, opened.shown.caller);
      const by = secret === undefined ? 'link' : 'secret';
      await access.noteSession('session.opened', opened.shown.caller.author, { address: actor.address, by });
      const maxAgeSeconds = Math.ceil(opened.maxMs / 1000);
      setSessionCookie(request, reply, { token: opened.token, maxAgeSeconds });
      security.note('session.opened', { actor, by });
      return { session: toSessionJson({ ...opened.shown, session: opened.session }, limits) };
    },
  );
}

export function registerSessionRoutes(
  app: HttpServer,
  { limits }: HttpContext,
  authenticate: onRequestHookHandler,
  { sessions, security, access }: SessionParts,
): void {
  async function noteEnd(request: FastifyRequest, ended: number): Promise<void> {
    const actor = actorOf(request);
    security.note('session.ended', { actor, sessions: ended });
    if (ended === 0) return;
    const { author } = callerOf(request);
    await access.noteSession('session.ended', author, { address: actor.address, sessions: ended });
  }

  app.register(async (secured: HttpServer) => {
    // A page that asks who is logged in, before anyone is, is not guessing.
    secured.addHook('onRequest', (request, _reply, done) => {
      done(showsAnything(request) ? undefined : new ServiceError('missing_credentials'));
    });
    // Any key may read and end its own sessions: no route needs a right.
    secured.addHook('onRequest', authenticate);

    secured.get(
      '/api/session',
      {
        schema: {
          operationId: 'getSession',
          tags: ['Sessions'],
          summary: 'Read who is logged in',
          description: 'Returns name, rights and accounts of the session or key. Any key may call it.',
          response: {
            200: jsonResponse('The caller.', CurrentSession),
            ...anyKeyErrorResponses('invalid_credentials'),
          },
        },
      },
      async (request) => ({ session: toSessionJson(shownKeyOf(request), limits) }),
    );

    secured.delete(
      '/api/session',
      {
        schema: {
          operationId: 'endSession',
          tags: ['Sessions'],
          summary: 'Log out',
          description:
            'Ends the session of the request and removes its cookie. A bearer has no session. Needs no body.',
          response: {
            200: jsonResponse('Logged out.', EndedSessions),
            ...anyKeyErrorResponses(...JSON_BODY_ERRORS, 'invalid_credentials'),
          },
        },
        preValidation: optionalJsonBody(limits),
      },
      async (request, reply) => {
        const { session } = shownKeyOf(request);
        const ended = session === undefined ? 0 : 1;
        if (session !== undefined) await sessions.end(session);
        setSessionCookie(request, reply, NO_COOKIE);
        await noteEnd(request, ended);
        return { ended };
      },
    );

    secured.get(
      '/api/sessions',
      {
        schema: {
          operationId: 'listSessions',
          tags: ['Sessions'],
          summary: 'List the sessions of the key',
          description:
            'Browser sessions of the same key, most recently used first; for the shared secret, all sessions that a shared secret opened.',
          response: {
            200: jsonResponse('The complete list.', BrowserSessions),
            ...anyKeyErrorResponses('invalid_credentials'),
          },
        },
      },
      async (request) => {
        const shown = shownKeyOf(request);
        const listed = await sessions.listOf(shown);
        return {
          sessions: listed.map(({ id, device, createdAt, lastUsedAt, expiresAt }) => ({
            id,
            device,
            current: id === shown.session?.id,
            created_at: createdAt.toISOString(),
            last_used_at: lastUsedAt.toISOString(),
            expires_at: expiresAt.toISOString(),
          })),
        };
      },
    );

    secured.delete(
      '/api/sessions/:id',
      {
        schema: {
          operationId: 'endOneSession',
          tags: ['Sessions'],
          summary: 'Log out one browser',
          description: 'Ends one of the sessions that `GET /api/sessions` lists. Needs no body.',
          params: SessionParams,
          response: {
            200: jsonResponse('Logged out.', EndedSessions),
            ...anyKeyErrorResponses(
              ...JSON_BODY_ERRORS,
              'invalid_uuid',
              'invalid_credentials',
              'session_not_found',
            ),
          },
        },
        preValidation: optionalJsonBody(limits),
      },
      async (request, reply) => {
        const shown = shownKeyOf(request);
        const id = request.params.id.toLowerCase();
        await sessions.endOneOf(shown, id);
        if (id === shown.session?.id) setSessionCookie(request, reply, NO_COOKIE);
        await noteEnd(request, 1);
        return { ended: 1 };
      },
    );

    secured.delete(
      '/api/sessions',
      {
        schema: {
          operationId: 'endSessions',
          tags: ['Sessions'],
          summary: 'Log out everywhere',
          description:
            'Ends all sessions of the same key on all devices; for the shared secret, all sessions that a shared secret opened. ' +
            'The key itself stays valid. Needs no body.',
          response: {
            200: jsonResponse('Logged out.', EndedSessions),
            ...anyKeyErrorResponses(...JSON_BODY_ERRORS, 'invalid_credentials'),
          },
        },
        preValidation: optionalJsonBody(limits),
      },
      async (request, reply) => {
        const ended = await sessions.endAllOf(shownKeyOf(request));
        setSessionCookie(request, reply, NO_COOKIE);
        await noteEnd(request, ended);
        return { ended };
      },
    );
  });
}

const NO_COOKIE = { token: null, maxAgeSeconds: 0 } as const;

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { failures, access }: SessionParts,
  secret: string,
): ServiceError {
  const address = clientAddressOf(request);
  access.noteLogin(address, parseApiKey(secret)?.id ?? null, 'login_failed');
  const retryAfterSeconds = failures.note(address, 'wrong');
  if (retryAfterSeconds === null) return new ServiceError('login_failed');
  reply.header('connection', 'close');
  return new ServiceError('too_many_failed_logins', { retryAfterSeconds });
}

/** The browser drops the old session with the new cookie; nothing else should continue to use it. */
async function endShownBefore(request: FastifyRequest, sessions: SessionUseCases): Promise<void> {
  const before = readSessionCookie(request);
  const shown = before === null ? null : await sessions.find(before, browserOf(request));
  if (shown?.session !== undefined) await sessions.end(shown.session);
}

function toSessionJson({ caller, session }: ShownKey, limits: HttpLimits) {
  const { id, name } = toAuthorJson(caller.author);
  return {
    name,
    rights: [...caller.rights],
    accounts: caller.accounts === null ? null : [...caller.accounts],
    key_id: id,
    expires_at: (session?.expiresAt ?? caller.expiresAt)?.toISOString() ?? null,
    limits: { attachment_bytes: limits.maxAttachmentBytes, attachments: limits.maxAttachments },
  };
}
