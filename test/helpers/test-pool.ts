/** The service's connection pool on a test database. */
import type pg from 'pg';
import { createPool } from '../../src/platform/db/pool.ts';
import { addressForService, type TestDatabase } from './postgres.ts';
import { silentLogger } from './silent-logger.ts';

/** Has long time-outs, so that a busy machine fails no test. End it before the database is dropped. */
export function createTestPool(
  { connectionString }: Pick<TestDatabase, 'connectionString'>,
  maxConnections = 4,
): pg.Pool {
  return createPool({
    connection: addressForService(connectionString),
    maxConnections,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    logger: silentLogger,
  });
}
