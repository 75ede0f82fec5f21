/** A streaming replica of an external PostgreSQL, made with pg_basebackup; both come from the Debian package. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createServerProcess, findBinaries, identity, type ExternalPostgres } from './external-postgres.ts';
import { findFreePort } from './free-port.ts';
import { query } from './query.ts';
import { waitUntil } from './wait-until.ts';

export interface PostgresReplica {
  /** URL of the same database as `url` of the primary. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends the replica at once, sessions included. */
  stop(): Promise<void>;
  /** The replica receives the primary's changes, and applies none of them until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Makes the replica a server of its own. */
  promote(): Promise<void>;
  /** Waits until the replica has everything that the primary has written by now. */
  catchUp(): Promise<void>;
  dispose(): Promise<void>;
}

/** Starts the replica, and waits until it has everything that the primary has. */
export async function createPostgresReplica(primary: ExternalPostgres): Promise<PostgresReplica> {
  const binaries = findBinaries();
  if (binaries === null) throw new Error('no PostgreSQL is installed');
  const user = identity();
  const folder = await mkdtemp(path.join(tmpdir(), 'postgres-replica-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const from = new URL(primary.url);
  await promisify(execFile)(
    path.join(binaries, 'pg_basebackup'),
    ['-d', `postgres://mail@${from.host}/postgres`, '-D', data, '-R', '-c', 'fast', '--no-sync'],
    { ...user, cwd: folder },
  );
  await chmod(data, 0o700);
  const port = await findFreePort();
  const own = new URL(primary.url);
  own.port = String(port);
  const server = createServerProcess({
    binaries,
    folder,
    port,
    url: own.href,
    settings: ['-c', 'wal_receiver_status_interval=1'],
  });
  const replica: PostgresReplica = {
    ...server,
    url: own.href,
    async pause() {
      await query(own.href, 'select pg_wal_replay_pause()');
      await waitUntil('the replica has paused', async () => {
        const [row] = await query(own.href, 'select pg_get_wal_replay_pause_state() as state');
        return row?.['state'] === 'paused';
      });
    },
    async resume() {
      await query(own.href, 'select pg_wal_replay_resume()');
    },
    async promote() {
      await query(own.href, 'select pg_promote()');
    },
    async catchUp() {
      const [row] = await query(primary.url, 'select pg_current_wal_flush_lsn()::text as position');
      await waitUntil('the replica has caught up', async () => {
        const [found] = await query(
          own.href,
          `select pg_last_wal_replay_lsn() >= '${String(row?.['position'])}'::pg_lsn as is_there`,
        );
        return found?.['is_there'] === true;
      });
    },
  };
  await replica.start();
  await replica.catchUp();
  return replica;
}
