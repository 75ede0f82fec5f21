import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { createPool } from './pool.ts';

describe('connection pool', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const terminate = (pid: unknown) =>
    query(database.connectionString, 'select pg_terminate_backend($1)', [pid]);

  // Found by test/crash: an error that nobody listened to ended the service.
  it('outlives a lent connection that breaks between two statements', async () => {
    const pool = createPool({
      connection: database.connectionString,
      maxConnections: 2,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 5_000,
      logger: silentLogger,
    });
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await terminate(rows[0]?.pid);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow(/not queryable|closed|terminated/);
    client.release(true);
    await expect(pool.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
    await pool.end();
  });
});
