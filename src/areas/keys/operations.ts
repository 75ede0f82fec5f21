/**
 * Keys in the API: /api/keys. Every operation checks the caller itself: a key with accounts that the caller does not see does not exist for it.
 * The secret of a key is returned once, when it is created or rotated.
 */
import type { XStatic } from 'typebox/schema';
import { ServiceError } from '../../core/errors.ts';
import { seesAccounts } from '../../core/keys/caller.ts';
import { RIGHTS } from '../../core/keys/rights.ts';
import { ONE_LINE_PATTERN } from '../../core/one-line.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import { toJson, type Value } from '../../platform/operation/values.ts';
import { AuthorSchema, toAuthorJson } from '../../platform/schemas/author.ts';
import { EntryVersion, IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import { KeyId, RightName } from '../../platform/schemas/right.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { NullableTimestamp, record, Timestamp } from '../../platform/schemas/schemas.ts';
import type { StoredKey } from '../../platform/access/key-ports.ts';
import type { Keys as KeysOf, KeyWithSecret } from './manage-keys.ts';

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
  version: EntryVersion,
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

const HOUR_MS = 3_600_000;

const params = { id: { ...KeyId, description: 'The key.' } } as const;
const tag = 'Keys';
const right = 'admin';
const account = 'none';

const operation = operationsWith<{ readonly keys: KeysOf }>();

export const keyOperations = [
  operation({
    id: 'createKey',
    method: 'POST',
    path: '/api/keys',
    right,
    account: {
      async decide(input, seen) {
        const accounts = input.accountIds === '*' ? null : input.accountIds;
        // Before unknown accounts are refused: the caller can't tell one that exists from one that does not.
        if (!seesAccounts(seen, accounts)) throw new ServiceError('key_exceeds_caller');
        for (const accountId of accounts ?? []) await seen.requireNamed(accountId);
        return input;
      },
    },
    tag,
    summary: 'Create a key',
    description:
      'Creates a key with its own rights for the accounts in `account_ids`, or all accounts with `*`; `account_ids` is ' +
      "required. A caller can't grant more than it has.",
    body: KeyBody,
    maxBodyBytes: MAX_KEY_BYTES,
    answer: 'Created, with its secret.',
    creates: true,
    output: SecretKey,
    errors: ['key_exceeds_caller', 'unknown_account', 'too_many_keys'],
    act: {
      event: 'key.created',
      what: ({ name }) => ({ name }),
      after: ({ key }) => actFields(key),
    },
    async run(caller, { accountIds, expiresAt = null, rateLimit = null, ...request }, { keys }) {
      const accounts = accountIds === '*' ? null : accountIds;
      return toSecretKey(await keys.create(caller, { ...request, accounts, expiresAt, rateLimit }));
    },
  }),

  operation({
    id: 'listKeys',
    method: 'GET',
    path: '/api/keys',
    right,
    account,
    tag,
    summary: 'List keys',
    description: 'Newest first, including revoked keys; never with secrets.',
    query: PAGE_PARAMETERS,
    answer: 'One page.',
    output: Keys,
    async run(caller, { limit, cursor = null }, { keys }) {
      const page = await keys.list(caller, { limit, cursor });
      return { ...page, keys: page.keys.map(toShown) };
    },
  }),

  operation({
    id: 'getKey',
    method: 'GET',
    path: '/api/keys/:id',
    right,
    account,
    tag,
    summary: 'Read one key',
    description: 'Rights, accounts and last use; never the secret.',
    params,
    answer: 'The key.',
    output: Key,
    versionOf,
    errors: ['key_not_found'],
    run: async (caller, { id }, { keys }) => toShown(await keys.read(caller, id)),
  }),

  operation({
    id: 'changeKey',
    method: 'PATCH',
    path: '/api/keys/:id',
    right,
    account,
    tag,
    summary: 'Change a key',
    description:
      'Absent fields stay unchanged. The change takes effect within two seconds in every process; a changed `rate_limit` ' +
      "starts anew. A caller can't change a key that has more rights than itself, nor grant it more. A revoked key is not " +
      'found.',
    params,
    ifMatch: IF_THIS_VERSION,
    body: ChangeBody,
    answer: 'As it is now.',
    output: Key,
    versionOf,
    errors: ['key_exceeds_caller', 'key_not_found', 'key_changed'],
    act: {
      event: 'key.changed',
      what: ({ id, version: _version, ...change }) => ({ keyId: id, fields: Object.keys(change) }),
      before: async ({ id }, { keys }, caller) => actFields(toShown(await keys.read(caller, id))),
      after: actFields,
    },
    run: async (caller, { id, version, ...change }, { keys }) =>
      toShown(await keys.change(caller, id, version, change)),
  }),

  operation({
    id: 'revokeKey',
    method: 'DELETE',
    path: '/api/keys/:id',
    right,
    account,
    tag,
    summary: 'Revoke a key',
    description:
      'The key stops working within two seconds in every process, and its event streams end. Its record stays, since it ' +
      'names the author of earlier requests. Needs no body; a body with fields is refused.',
    params,
    ifMatch: IF_THIS_VERSION,
    answer: 'Revoked.',
    output: Key,
    versionOf,
    errors: ['key_not_found', 'key_changed'],
    act: { event: 'key.revoked', what: ({ id }) => ({ keyId: id }), after: actFields },
    run: async (caller, { id, version }, { keys }) => toShown(await keys.revoke(caller, id, version)),
  }),

  operation({
    id: 'rotateKey',
    method: 'POST',
    path: '/api/keys/:id/rotate',
    right,
    account,
    tag,
    summary: 'Rotate the secret of a key',
    description:
      'The previous secret is accepted for `overlap_hours`, so that nothing stops while the new secret is distributed.',
    params,
    body: RotateBody,
    bodyOptional: true,
    answer: 'The key with its new secret.',
    output: SecretKey,
    errors: ['key_exceeds_caller', 'key_not_found'],
    act: {
      event: 'key.rotated',
      what: ({ id }) => ({ keyId: id }),
      after: ({ key }) => actFields(key),
    },
    run: async (caller, { id, overlapHours }, { keys }) =>
      toSecretKey(await keys.rotate(caller, id, overlapHours * HOUR_MS)),
  }),
];

function toShown(key: StoredKey): Value<typeof Key> {
  return { ...key, accountIds: key.accounts ?? '*', createdBy: toAuthorJson(key.createdBy) };
}

const toSecretKey = ({ key, secret }: KeyWithSecret) => ({ key: toShown(key), secret });

/** The JSON of a key, as the commands print it. */
export const toKeyJson = (key: StoredKey) => writeKey(toShown(key)) as XStatic<typeof Key>;
const writeKey = toJson(Key);

function actFields(key: Value<typeof Key>): ActFields {
  const { id, name, rights, accountIds, rateLimit, expiresAt, oldSecretUntil } = key;
  const accounts = accountIds === '*' ? null : accountIds;
  return { id, name, rights, accounts, rateLimit, expiresAt, oldSecretUntil };
}
