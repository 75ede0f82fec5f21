/** The statements of a service without work. */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** `Execute` and `Query` of PostgreSQL's protocol, each of which runs a statement. */
const RUNS = new Set(['E', 'Q']);

let runs = 0;
let database: TestDatabase;
let proxy: Server;
let service: ServiceProcess;
const sockets = new Set<Socket>();

/** Counts the statements that pass through. */
function watchFrontend(socket: Socket): void {
  let pending = Buffer.alloc(0);
  let isStarted = false;
  socket.on('data', (piece) => {
    pending = Buffer.concat([pending, piece]);
    for (;;) {
      // The first message has no type byte.
      const header = isStarted ? 1 : 0;
      if (pending.length < header + 4) return;
      const length = header + pending.readInt32BE(header);
      if (pending.length < length) return;
      if (isStarted && RUNS.has(String.fromCharCode(pending[0]!))) runs += 1;
      isStarted = true;
      pending = pending.subarray(length);
    }
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  const target = new URL(database.connectionString);
  const folder = target.searchParams.get('host');
  target.searchParams.delete('host');
  const { hostname: host, port } = target;
  const address = folder === null ? { host, port: Number(port) } : { path: `${folder}/.s.PGSQL.${port}` };
  proxy = createServer((client) => {
    const server = connect(address);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    watchFrontend(client);
    client.pipe(server).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  target.hostname = '127.0.0.1';
  target.port = String((proxy.address() as AddressInfo).port);
  service = await startServiceProcess({ env: { DATABASE_URL: target.href } });
});

afterAll(async () => {
  await disposeService(service);
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await database.drop();
});

it('asks less than one statement each second', async () => {
  // The first looks of all loops are over once there is no statement for a while.
  await waitUntil('it rests', async () => {
    runs = 0;
    await sleep(1500);
    return runs === 0;
  });
  const since = performance.now();
  await sleep(10_000);
  const seconds = (performance.now() - since) / 1000;
  expect(runs).toBeGreaterThan(0);
  expect(runs / seconds).toBeLessThan(1);
}, 120_000);
