/** `SessionStore` on PostgreSQL. Only this module writes `sessions`, `session_clock` and `login_links`. */
import type { Pool, PoolClient } from 'pg';
import type { KnownSession, SessionStore } from '../../platform/access/session-ports.ts';
import { fromNow } from '../../platform/db/from-now.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';

/** Most sessions of one key, and of all secrets together: browsers on the machines of a person, or of the people who share the secret. */
const MAX_SESSIONS = 50;
/** Most links that are valid at the same time: a loop that restarts the service makes one at each start. */
const MAX_LINKS = 100;

export function createSessionStore(pool: Pool): SessionStore {
  /** Serialises changes of sessions, and has all processes read the sessions again. */
  const changing = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    inTransaction(pool, async (client) => {
      await run(client, NEXT_REVISION);
      return work(client);
    });

  return {
    open: ({ id, device, binding, digest, keyId, credential, idleMs, maxMs }, linkDigest) =>
      changing(async (client) => {
        if (linkDigest !== null && (await run(client, USE_LINK, { digest: linkDigest })).length === 0)
          return null;
        await run(client, DELETE_EXPIRED);
        await run(client, MAKE_ROOM, { keyId, kept: MAX_SESSIONS - 1 });
        const [row] = await run(client, OPEN, {
          id,
          device,
          binding,
          digest,
          keyId,
          credential,
          idleMs,
          maxMs,
        });
        if (row === undefined) throw new Error('a session was not opened');
        await run(client, NOTE_OPENED);
        return {
          id,
          device,
          binding,
          digest,
          keyId,
          credential,
          expiresAt: row.expires_at,
          endsAt: row.ends_at,
        };
      }),

    renew: (digest, idleMs) =>
      changing(async (client) => {
        await run(client, RENEW, { digest, idleMs });
      }),

    end: (digest) =>
      changing(async (client) => {
        await run(client, END, { digest });
      }),

    endAll: (keyId) => changing(async (client) => (await run(client, END_ALL, { keyId })).length),

    async readAll(known) {
      const rows = await run(pool, READ_ALL, { known });
      const revision = rows[0]?.revision;
      if (revision === undefined) throw new Error('the clock of sessions has no row');
      if (revision === known) return null;
      return { revision, sessions: rows.flatMap(toSessions) };
    },

    createLink: ({ digest, keyId, credential, lifeMs }) =>
      inTransaction(pool, async (client) => {
        await run(client, DELETE_OLD_LINKS, { kept: MAX_LINKS - 1 });
        await run(client, CREATE_LINK, { digest, keyId, credential, lifeMs });
      }),

    async readLinks() {
      return (await run(pool, READ_LINKS)).map(({ token_hash: digest, key_id: keyId, credential }) => ({
        digest,
        keyId,
        credential,
      }));
    },

    async wasEverOpened() {
      const [row] = await run(pool, WAS_OPENED);
      return row?.was_opened === true;
    },
  };
}

/** Without a session, when there is none. */
function toSessions(row: RowOf<typeof READ_ALL>): readonly KnownSession[] {
  const { token_hash: digest, key_id: keyId, id, device, binding, credential } = row;
  const { created_at: createdAt, last_used_at: lastUsedAt, expires_at: expiresAt, ends_at: endsAt } = row;
  if (digest === null || id === null || device === null || binding === null || credential === null) return [];
  if (createdAt === null || lastUsedAt === null || expiresAt === null || endsAt === null) return [];
  return [{ id, device, binding, digest, keyId, credential, createdAt, lastUsedAt, expiresAt, endsAt }];
}

const NEXT_REVISION = statement('next-session-revision', 'update session_clock set revision = revision + 1');

const NOTE_OPENED = statement(
  'note-session-opened',
  'update session_clock set was_opened = true where not was_opened',
);

const USE_LINK = statement(
  'use-login-link',
  'delete from login_links where token_hash = $digest and expires_at > now() returning token_hash',
);

/** Includes sessions of revoked keys: nothing restores a key. */
const DELETE_EXPIRED = statement(
  'delete-expired-sessions',
  `delete from sessions s where s.expires_at <= now() and clock_is_certain()
    or exists (select from api_keys k where k.id = s.key_id and k.revoked_at is not null)`,
);

const MAKE_ROOM = statement(
  'make-room-for-session',
  `delete from sessions where token_hash in (
    select token_hash from sessions where key_id is not distinct from $keyId
    order by expires_at desc, token_hash offset $kept::int)`,
);

const OPEN = statement(
  'open-session',
  `insert into sessions (id, device, binding, token_hash, key_id, credential, expires_at, ends_at)
  values ($id, $device, $binding, $digest, $keyId, $credential, ${fromNow('least($idleMs::float8, $maxMs::float8)')},
    ${fromNow('$maxMs')})
  returning expires_at, ends_at`,
);

const RENEW = statement(
  'renew-session',
  `update sessions set expires_at = greatest(expires_at, least(${fromNow('$idleMs')}, ends_at)), last_used_at = now()
  where token_hash = $digest and expires_at > now()`,
);

const END = statement('end-session', 'delete from sessions where token_hash = $digest');

const END_ALL = statement(
  'end-all-sessions',
  'delete from sessions where key_id is not distinct from $keyId returning token_hash',
);

const READ_ALL = statement(
  'read-all-sessions',
  `select c.revision, s.id, s.device, s.binding, s.token_hash, s.key_id, s.credential, s.created_at, s.last_used_at,
    s.expires_at, s.ends_at
  from session_clock c
  left join sessions s on c.revision is distinct from $known::bigint and s.expires_at > now()`,
);

const DELETE_OLD_LINKS = statement(
  'delete-old-login-links',
  `delete from login_links where token_hash in (
    select token_hash from login_links order by (expires_at > now()) desc, expires_at desc, token_hash
    offset $kept::int)
  or expires_at <= now() and clock_is_certain()`,
);

const CREATE_LINK = statement(
  'create-login-link',
  `insert into login_links (token_hash, key_id, credential, expires_at)
  values ($digest, $keyId, $credential, ${fromNow('$lifeMs')})`,
);

const READ_LINKS = statement(
  'read-login-links',
  'select token_hash, key_id, credential from login_links where expires_at > now()',
);

const WAS_OPENED = statement('was-session-opened', 'select was_opened from session_clock');

/** Includes sessions that were ended after the backup that brought them back. */
export async function endEverySession(executor: Executor): Promise<void> {
  await run(executor, END_EVERY);
}

const END_EVERY = statement(
  'end-every-session',
  'with links as (delete from login_links) delete from sessions',
);
