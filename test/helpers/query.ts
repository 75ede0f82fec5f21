/** Queries of tests, on connections that are kept for a moment: a new connection costs more than most queries. */
import { Pool, type ClientConfig } from 'pg';
import { DEFAULT_SCHEMA } from '../../src/platform/db/session.ts';

/** In some tests, many queries wait for locks at the same moment. */
const MAX_CONNECTIONS = 50;
/** Longer than the pause between two checks of `waitUntil`, and short enough that few are left open. */
const IDLE_MS = 500;

/** The service's tables, and those that tests create in a database without them. */
export const SEARCH_PATH = `-c search_path=${DEFAULT_SCHEMA},public`;

const pools = new Map<string, Pool>();

export async function query(
  connection: ClientConfig | string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await poolOf(connection).query<Record<string, unknown>>(text, [...values]);
  return rows;
}

function poolOf(connection: ClientConfig | string): Pool {
  const config = typeof connection === 'string' ? { connectionString: connection } : connection;
  const key = JSON.stringify(config);
  const known = pools.get(key);
  if (known !== undefined) return known;
  const pool = new Pool({
    ...config,
    options: SEARCH_PATH,
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // Servers are killed and databases dropped under idle connections; the next query opens a new one.
  pool.on('error', () => {});
  pools.set(key, pool);
  return pool;
}
