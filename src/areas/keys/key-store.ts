/** `KeyStore` on PostgreSQL. Only this module writes `api_keys` and `key_clock`. */
import type { Pool, PoolClient } from 'pg';
import type { CheckedKey, KeyStore, StoredKey } from '../../platform/access/key-ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement, statements, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';

/** Keys that are not revoked, and the same number of revoked ones: each process has all of them in memory, some 500 bytes each. */
export const MAX_KEYS = 1000;

export function createKeyStore(pool: Pool): KeyStore {
  /** Serialises changes of keys, and has all processes read the keys again. */
  const changing = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    inTransaction(pool, async (client) => {
      await run(client, NEXT_REVISION);
      return work(client);
    });

  return {
    create: ({ rights, accounts, createdBy, ...key }) =>
      changing(async (client) => {
        const [count] = await run(client, COUNT);
        if ((count?.keys ?? 0) >= MAX_KEYS) {
          throw new ServiceError('too_many_keys', { values: { limit: MAX_KEYS } });
        }
        const [row] = await run(client, CREATE, {
          ...key,
          createdBy: toStorableJson(createdBy),
          rights: [...rights],
          accounts: accounts === null ? null : [...accounts],
        });
        if (row === undefined) throw new Error('a key was not made');
        return toKey(row);
      }),

    async list(scope, before, limit) {
      const list = LIST.of({ ofAccounts: scope !== null, isNext: before !== null });
      const place = { date: before?.date ?? null, id: before?.id ?? null };
      return (await run(pool, list, { scope: toArray(scope), ...place, limit })).map(toKey);
    },

    async read(id, scope) {
      const [row] = await run(pool, READ, { id, scope: toArray(scope) });
      return row === undefined ? null : toKey(row);
    },

    change: (id, version, { name = null, rateLimit }) =>
      changing(async (client) => {
        await requireVersion(client, id, version);
        const [row] = await run(client, CHANGE, {
          id,
          name,
          rateLimit: rateLimit ?? null,
          isRateKept: rateLimit === undefined,
        });
        return row === undefined ? null : toKey(row);
      }),

    revoke: (id, version) =>
      changing(async (client) => {
        await requireVersion(client, id, version);
        return (await run(client, REVOKE, { id })).length > 0;
      }),

    rotate: (id, hash, oldValidMs) =>
      changing(async (client) => {
        const [row] = await run(client, ROTATE, { id, hash, oldValidMs });
        return row === undefined ? null : toKey(row);
      }),

    async readAll(known) {
      const rows = await run(pool, READ_ALL, { known });
      const revision = rows[0]?.revision;
      if (revision === undefined) throw new Error('the clock of keys has no row');
      if (revision === known) return null;
      return { revision, keys: rows.flatMap((row) => (row.id === null ? [] : [toCheckedKey(row)])) };
    },

    async noteUse(ids) {
      await run(pool, NOTE_USE, { ids: [...ids] });
    },
  };
}

/** No other change can be under way. Throws `key_changed`. @param wanted null: any */
async function requireVersion(client: PoolClient, id: string, wanted: number | null): Promise<void> {
  if (wanted === null) return;
  const [row] = await run(client, READ, { id, scope: null });
  if (row !== undefined && row.version !== wanted)
    throw new ServiceError('key_changed', { details: String(row.version) });
}

const toArray = (scope: readonly string[] | null): string[] | null => (scope === null ? null : [...scope]);

function toKey(row: RowOf<typeof READ>): StoredKey {
  return {
    id: row.id,
    name: row.name,
    rights: row.rights,
    accounts: row.accounts,
    rateLimit: row.rate_limit,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    oldSecretUntil: row.old_secret_until,
    version: row.version,
  };
}

/** For a row that has a key: all columns of a key are set then. */
function toCheckedKey(row: RowOf<typeof READ_ALL>): CheckedKey {
  const key = row as RowOf<typeof READ> & { secret_hash: Buffer };
  return { ...toKey(key), hash: key.secret_hash, oldHash: row.old_secret_hash };
}

const COLUMNS = `k.id, k.name, k.rights, k.accounts, k.rate_limit, k.created_at, k.created_by, k.expires_at, k.last_used_at,
    k.revoked_at, k.old_secret_until, k.version`;

const NEXT_REVISION = statement('next-key-revision', 'update key_clock set revision = revision + 1');

const COUNT = statement(
  'count-keys',
  'select count(*)::int as keys from api_keys where revoked_at is null',
).narrow<{ keys: number }>();

const CREATE = statement(
  'create-key',
  `insert into api_keys as k (id, name, secret_hash, rights, accounts, rate_limit, created_by, expires_at)
  values ($id, $name, $hash, $rights, $accounts, $rateLimit, $createdBy, $expiresAt)
  returning ${COLUMNS}`,
);

/** True for keys that are limited to the caller's accounts. */
const IN_SCOPE = '($scope::text[] is null or k.accounts <@ $scope)';

const LIST = statements(
  'list-keys',
  { ofAccounts: [false, true], isNext: [false, true] },
  ({ ofAccounts, isNext }) => {
    const conditions = [
      ...(ofAccounts ? ['k.accounts <@ $scope::text[]'] : []),
      ...(isNext
        ? [`(date_trunc('milliseconds', k.created_at), k.id) < ($date::timestamptz, $id::text)`]
        : []),
    ];
    return `select ${COLUMNS} from api_keys k
      ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by date_trunc('milliseconds', k.created_at) desc, k.id desc limit $limit::int`;
  },
);

const READ = statement('read-key', `select ${COLUMNS} from api_keys k where k.id = $id and ${IN_SCOPE}`);

const CHANGE = statement(
  'change-key',
  `update api_keys k set name = c.name, rate_limit = c.rate_limit,
    -- What changes nothing is no change.
    version = k.version + ((k.name, k.rate_limit) is distinct from (c.name, c.rate_limit))::int
  from (
    select id, coalesce($name::text, name) as name,
      case when $isRateKept::boolean then rate_limit else $rateLimit::int end as rate_limit
    from api_keys where id = $id and revoked_at is null
  ) c
  where k.id = c.id
  returning ${COLUMNS}`,
);

const REVOKE = statement(
  'revoke-key',
  'update api_keys set revoked_at = now(), version = version + 1 where id = $id and revoked_at is null returning id',
);

const ROTATE = statement(
  'rotate-key',
  `update api_keys k set secret_hash = $hash, version = k.version + 1,
    old_secret_until = case when $oldValidMs::float8 > 0 then ${fromNow('$oldValidMs')} end,
    old_secret_hash = case when $oldValidMs > 0 then k.secret_hash end
  where k.id = $id and k.revoked_at is null
  returning ${COLUMNS}`,
);

/** Includes keys that were revoked lately, so that a caller that still uses one learns why it is refused; a bounded number, since they are in memory as well. */
const READ_ALL = statement(
  'read-all-keys',
  `select c.revision, ${COLUMNS}, k.secret_hash, k.old_secret_hash
  from key_clock c left join api_keys k on c.revision is distinct from $known::bigint
    and (k.revoked_at is null or k.id in (
      select id from api_keys where revoked_at > now() - interval '30 days' order by revoked_at desc limit ${MAX_KEYS}))`,
);

const NOTE_USE = statement(
  'note-key-use',
  `update api_keys set last_used_at = now()
  where id = any ($ids::text[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
);
