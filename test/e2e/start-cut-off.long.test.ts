/** The database becomes unavailable at a step of the start, whichever it is: the start goes on when the database is back. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchPostgres } from '../crash/stream-watchers.ts';
import { TcpProxy } from '../crash/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

/** The first answers come one step after the other; later ones, of loops, are no part of the start. */
const STEPS = 14;

let database: TestDatabase;
let proxy: TcpProxy;
let url: string;
let replies: number;

beforeAll(async () => {
  database = await createTestDatabase();
  replies = 0;
  proxy = new TcpProxy(() => {
    const watcher = watchPostgres();
    return {
      fromClient: (chunk) => watcher.fromClient(chunk),
      fromServer(chunk) {
        const marks = watcher.fromServer(chunk);
        replies += marks.length;
        return marks;
      },
    };
  });
  const port = await proxy.start();
  const socket = new URL(database.connectionString);
  proxy.target = { path: `${socket.searchParams.get('host')}/.s.PGSQL.${socket.port}` };
  url = `postgres://${socket.username}@127.0.0.1:${port}${socket.pathname}`;
});
afterAll(async () => {
  await proxy.stop();
  await database.drop();
});

const startThroughProxy = (dataDir?: string): Promise<ServiceProcess> =>
  startServiceProcess({ env: { DATABASE_URL: url }, ...(dataDir === undefined ? {} : { dataDir }) });

it('a start whose database goes away at any of its steps becomes ready when the database is back', async () => {
  const first = await startThroughProxy();
  await first.stop();
  expect(replies).toBeGreaterThan(STEPS);
  for (let step = 0; step < STEPS; step += 1) {
    const hitsBefore = proxy.hits;
    proxy.arm({ moment: 'reply', action: 'cut', skip: step });
    const service = await startThroughProxy(first.dataDir);
    expect({ step, hits: proxy.hits - hitsBefore }).toEqual({ step, hits: 1 });
    expect((await service.request('/api/health/ready')).status).toBe(200);
    expect(await service.stop()).toBe(0);
    proxy.heal();
  }
  await disposeService(first);
});
