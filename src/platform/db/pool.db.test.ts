import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchPostgres } from '../../../test/crash/stream-watchers.ts';
import { TcpProxy } from '../../../test/crash/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { query } from '../../../test/helpers/query.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { createPool } from './pool.ts';
import { inTransaction } from './transaction.ts';

describe('connection pool', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const terminate = (pid: unknown) =>
    query(database.connectionString, 'select pg_terminate_backend($1)', [pid]);

  // Found by test/crash: an error event without a listener ended the service.
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

  // Found by test/crash: the replay got the same silent connection again and again.
  it('does not lend a connection again that owes an answer', async () => {
    const proxy = new TcpProxy(watchPostgres);
    const port = await proxy.start();
    const direct = new URL(database.connectionString);
    const folder = direct.searchParams.get('host');
    proxy.target =
      folder === null
        ? { host: direct.hostname, port: Number(direct.port) }
        : { path: `${folder}/.s.PGSQL.${direct.port}` };
    const through = new URL(direct);
    through.searchParams.delete('host');
    through.hostname = '127.0.0.1';
    through.port = String(port);
    const pool = createPool({
      connection: through.href,
      maxConnections: 1,
      connectTimeoutMs: 5_000,
      // A busy machine may take long between two statements of a transaction, which has the same limit.
      statementTimeoutMs: 1000,
      logger: silentLogger,
    });
    await pool.query('select 1');
    proxy.arm({ moment: 'query', action: 'silence', skip: 0 });
    const work = () => inTransaction(pool, (client) => client.query('select 1'));
    await expect(work()).rejects.toMatchObject({
      code: 'database_unavailable',
      cause: new Error('Query read timeout'),
    });
    await expect(work()).resolves.toMatchObject({ rows: [{ '?column?': 1 }] });
    await pool.end();
    await proxy.stop();
  });
});
