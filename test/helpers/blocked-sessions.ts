/** Waits for a statement that waits for a particular lock: not just any lock, since the loops of a service may wait too. */
import type { ClientBase, ClientConfig } from 'pg';
import { query } from './query.ts';
import { waitUntil } from './wait-until.ts';

/**
 * Resolves when a statement of another session waits for a lock that `holder` has.
 *
 * @param target connects another session: within a transaction pg_stat_activity stays as it was first seen
 * @param holder in a transaction that took the lock
 * @param statement found in the statement's first 1,023 bytes (track_activity_query_size)
 */
export async function waitUntilBlocked(
  target: ClientConfig | string,
  holder: ClientBase,
  statement: RegExp,
): Promise<void> {
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid;
  await waitUntil(`${String(statement)} waits for a lock`, async () => {
    const blocked = await query(
      target,
      `select query from pg_stat_activity where ${String(pid)} = any (pg_blocking_pids(pid))`,
    );
    return blocked.some((session) => statement.test(String(session['query'])));
  });
}
