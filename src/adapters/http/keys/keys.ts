/**
 * Keys of the API: GET and POST /api/keys, GET, PATCH and DELETE /api/keys/{id}, POST /api/keys/{id}/rotate. The secret of a key is returned once,
 * when it is created or rotated.
 */
import type { KeyWithSecret } from '../../../app/keys/use-cases.ts';
import { RIGHTS } from '../../../core/keys/rights.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { ONE_LINE_PATTERN } from '../../../core/one-line.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { callerOf } from '../connections/auth.ts';
import { AuthorSchema } from '../../../platform/schemas/author.ts';
import { KeyId, RightName } from '../../../platform/schemas/right.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema, toPageRequest } from '../../../platform/schemas/page-schemas.ts';
import { jsonResponse, NullableTimestamp, record, Timestamp, toMoment } from '../../../platform/schemas/schemas.ts';
import { toKeyJson } from './key-json.ts';

const MAX_NAME_CHARS = 100;
const MAX_ACCOUNTS = 100;
/** Far beyond what a process can answer. */
const MAX_RATE_LIMIT = 10_000_000;
/** How long the old secret is accepted after a rotation, when the request does not specify it; in hours. */
const DEFAULT_OVERLAP_HOURS = 24;
/** A month: a secret that is being replaced should not remain valid for ever. */
const MAX_OVERLAP_HOURS = 720;
/** Enough for a name and some accounts. */
const MAX_KEY_BYTES = 16_384;

/** No default, and no null: nothing that a request leaves out may give more. */
const KeyAccounts = {
  title: 'KeyAccounts',
  $comment: 'Accounts that the key may read and use; `*`: all accounts, including future ones.',
  anyOf: [
    { type: 'string', const: '*' },
    { type: 'array', minItems: 1, maxItems: MAX_ACCOUNTS, items: AccountId },
  ],
} as const;

const keyProperties = {
  id: KeyId,
  name: { type: 'string', description: 'For people.' },
  rights: { type: 'array', items: RightName, description: 'Its rights.' },
  account_ids: KeyAccounts,
  rate_limit: {
    type: ['integer', 'null'],
    minimum: 1,
    description: 'Requests per minute in each process of the service; null: the limit of the configuration.',
  },
  created_at: Timestamp,
  created_by: AuthorSchema,
  expires_at: { ...NullableTimestamp, description: 'Expiry of the key; null: never.' },
  last_used_at: { ...NullableTimestamp, description: 'Last use, accurate to a minute; null: never.' },
  revoked_at: { ...NullableTimestamp, description: 'Time of the revocation; null when it was not revoked.' },
  old_secret_until: {
    ...NullableTimestamp,
    description: 'Until when the secret before the last rotation is accepted.',
  },
} as const;

const Key = record('Key', keyProperties);
const SecretKey = record('KeyWithSecret', {
  key: Key,
  secret: {
    type: 'string',
    description: '`ewk_…`, for `Authorization: Bearer`. Shown only once; the service does not store it.',
  },
});
const Keys = pageSchema('Keys', 'keys', Key);

const KeyName = {
  title: 'KeyName',
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_CHARS,
  pattern: ONE_LINE_PATTERN,
  $comment: 'For people, in one line.',
} as const;
const RateLimit = {
  title: 'KeyRateLimit',
  $comment: 'Requests per minute in each process of the service; no more than the limit of the caller.',
  type: ['integer', 'null'],
  minimum: 1,
  maximum: MAX_RATE_LIMIT,
} as const;

const KeyBody = {
  type: 'object',
  title: 'KeyRequest',
  additionalProperties: false,
  required: ['name', 'rights', 'account_ids'],
  properties: {
    name: KeyName,
    rights: {
      type: 'array',
      minItems: 1,
      maxItems: RIGHTS.length,
      items: RightName,
      description: 'Rights of the key; only rights that the caller has.',
    },
    account_ids: KeyAccounts,
    rate_limit: { ...RateLimit, description: 'Default: null, the limit of the configuration.' },
    expires_at: { ...NullableTimestamp, description: 'Default: null, never.' },
  },
} as const;

const ChangeBody = {
  type: 'object',
  title: 'ChangeKeyRequest',
  additionalProperties: false,
  properties: {
    name: KeyName,
    rate_limit: { ...RateLimit, description: 'null: the limit of the configuration.' },
  },
} as const;

const RotateBody = {
  type: 'object',
  title: 'RotateKeyRequest',
  additionalProperties: false,
  properties: {
    overlap_hours: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_OVERLAP_HOURS,
      default: DEFAULT_OVERLAP_HOURS,
      description: 'Hours for which the previous secret is still accepted; 0: not at all.',
    },
  },
} as const;

const KeyParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...KeyId, description: 'The key.' } },
} as const;

const KeysQuery = { type: 'object', additionalProperties: false, properties: PAGE_PARAMETERS } as const;

export function registerKeyRoutes(
  app: HttpServer,
  { applicationFor, operationsFor, limits }: HttpContext,
): void {
  app.post(
    '/api/keys',
    {
      schema: {
        operationId: 'createKey',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Create a key',
        description:
          'Creates a key with its own rights for the accounts in `account_ids`, or all accounts with `*`; `account_ids` is ' +
          "required. A caller can't grant more than it has.",
        body: KeyBody,
        response: {
          200: jsonResponse('Created, with its secret.', SecretKey),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'unauthorized',
            'key_exceeds_caller',
            'unknown_account',
            'too_many_keys',
          ),
        },
      },
      preValidation: smallJsonBody(limits, MAX_KEY_BYTES),
    },
    async (request) => {
      const {
        name,
        rights,
        account_ids: accounts,
        expires_at: expiresAt,
        rate_limit: rateLimit = null,
      } = request.body;
      const made = await operationsFor(request).createKey(callerOf(request), {
        name,
        rights,
        accounts: accounts === '*' ? null : accounts,
        rateLimit,
        expiresAt: expiresAt === undefined || expiresAt === null ? null : toMoment('expires_at', expiresAt),
      });
      return toSecretJson(made);
    },
  );

  app.get(
    '/api/keys',
    {
      schema: {
        operationId: 'listKeys',
        right: 'admin',
        tags: ['Keys'],
        summary: 'List keys',
        description: 'Newest first, including revoked keys; never with secrets.',
        querystring: KeysQuery,
        response: {
          200: jsonResponse('One page.', Keys),
          ...errorResponses('invalid_request', 'invalid_cursor', 'unauthorized'),
        },
      },
    },
    async (request) => {
      const page = await applicationFor(request).listKeys(callerOf(request), toPageRequest(request.query));
      return { keys: page.keys.map(toKeyJson), next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/api/keys/:id',
    {
      schema: {
        operationId: 'getKey',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Read one key',
        description: 'Rights, accounts and last use; never the secret.',
        params: KeyParams,
        response: {
          200: jsonResponse('The key.', Key),
          ...errorResponses('invalid_request', 'unauthorized', 'key_not_found', 'database_unavailable'),
        },
      },
    },
    async (request) => toKeyJson(await applicationFor(request).readKey(callerOf(request), request.params.id)),
  );

  app.patch(
    '/api/keys/:id',
    {
      schema: {
        operationId: 'changeKey',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Change a key',
        description:
          'Absent fields stay unchanged. The change takes effect within two seconds in every process; a changed `rate_limit` ' +
          "starts anew. A caller can't change a key that has more rights than itself, nor grant it more. A revoked key is not " +
          'found.',
        params: KeyParams,
        body: ChangeBody,
        response: {
          200: jsonResponse('As it is now.', Key),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'unauthorized',
            'key_exceeds_caller',
            'key_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: smallJsonBody(limits),
    },
    async (request) => {
      const { name, rate_limit: rateLimit } = request.body;
      const key = await operationsFor(request).changeKey(callerOf(request), request.params.id, {
        ...(name === undefined ? {} : { name }),
        ...(rateLimit === undefined ? {} : { rateLimit }),
      });
      return toKeyJson(key);
    },
  );

  app.delete(
    '/api/keys/:id',
    {
      schema: {
        operationId: 'revokeKey',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Revoke a key',
        description:
          'The key stops working within two seconds in every process, and its event streams end. Its record stays, since it ' +
          'names the author of earlier requests. Needs no body; a body with fields is refused.',
        params: KeyParams,
        response: {
          200: jsonResponse('Revoked.', Key),
          ...errorResponses(...JSON_BODY_ERRORS, 'unauthorized', 'key_not_found', 'database_unavailable'),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) =>
      toKeyJson(await operationsFor(request).revokeKey(callerOf(request), request.params.id)),
  );

  app.post(
    '/api/keys/:id/rotate',
    {
      schema: {
        operationId: 'rotateKey',
        right: 'admin',
        tags: ['Keys'],
        summary: 'Rotate the secret of a key',
        description:
          'The previous secret is accepted for `overlap_hours`, so that nothing stops while the new secret is distributed.',
        params: KeyParams,
        body: RotateBody,
        response: {
          200: jsonResponse('The key with its new secret.', SecretKey),
          ...errorResponses(
            ...JSON_BODY_ERRORS,
            'unauthorized',
            'key_exceeds_caller',
            'key_not_found',
            'database_unavailable',
          ),
        },
      },
      preValidation: optionalJsonBody(limits),
    },
    async (request) => {
      const { overlap_hours: hours = DEFAULT_OVERLAP_HOURS } = request.body;
      const { id } = request.params;
      return toSecretJson(await operationsFor(request).rotateKey(callerOf(request), id, hours * 3_600_000));
    },
  );
}

const toSecretJson = ({ key, secret }: KeyWithSecret) => ({ key: toKeyJson(key), secret });
