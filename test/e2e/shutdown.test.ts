/** SIGTERM under load, and while a mail server does not answer: the process ends in time, and nothing is in doubt. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { watchPostgres } from '../crash/stream-watchers.ts';
import { TcpProxy } from '../crash/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { SILENCE, startScriptedServer, type ScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let server: ScriptedServer;
let service: ServiceProcess;
let silent: boolean;
let cleanups: (() => Promise<unknown>)[];

beforeEach(async () => {
  silent = false;
  cleanups = [];
  database = await createTestDatabase();
  server = await startScriptedServer({ script: { dot: () => (silent ? SILENCE : undefined) } });
  service = await start();
});
afterEach(async () => {
  await disposeService(service);
  for (const cleanup of cleanups) await cleanup();
  await server.close();
  await database.drop();
});

const start = (dataDir?: string, databaseUrl = database.connectionString, shutdownMs = 1500) =>
  startServiceProcess({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      DATABASE_URL: databaseUrl,
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      SHUTDOWN_TIMEOUT_MS: String(shutdownMs),
    },
  });

const send = (subject: string = randomUUID()) =>
  service.request('/api/send', { json: { to: 'ada@example.org', subject, text_body: 'Guten Tag' } });

it('gives each request that it accepted its answer, and ends with code 0', async () => {
  const given: { readonly status: number; readonly code: string | undefined }[] = [];
  // A refused connection is not an accepted request: it ends the client.
  const client = async (): Promise<void> => {
    for (;;) {
      const response = await send().catch(() => null);
      if (response === null) return;
      given.push({ status: response.status, code: ((await response.json()) as { code?: string }).code });
    }
  };
  const clients = Array.from({ length: 8 }, client);
  await waitUntil('the service is under load', () => server.accepted.length > 20);
  expect(await service.stop()).toBe(0);
  await Promise.all(clients);
  const sent = given.filter(({ status }) => status === 200).length;
  expect(given.filter(({ status, code }) => status !== 200 && code !== 'shutting_down')).toEqual([]);
  expect(sent).toBe(server.accepted.length);
});

it('does not wait for a connection that has sent nothing, as browsers make them ahead', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  // The service has accepted this connection before it answers another one.
  expect((await send()).status).toBe(200);
  expect(await service.stop()).toBe(0);
  expect(service.log.join('')).not.toContain('still');
});

it('waits no longer than it may for a silent mail server, and records what was handed over as unknown', async () => {
  // A quarter of it is for what was cut off, also on a machine with much else to do.
  await disposeService(service);
  service = await start(undefined, undefined, 8000);
  silent = true;
  const subject = randomUUID();
  const answer = send(subject);
  await waitUntil('the message is handed over', () => server.received.length === 1);
  expect(await service.stop()).toBe(0);
  const response = await answer;
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    500,
    'send_unknown',
  ]);

  silent = false;
  service = await start(service.dataDir);
  const listed = await service.request('/api/emails?state=unknown');
  const { emails } = (await listed.json()) as { emails: { subject: string }[] };
  expect(emails.map((email) => email.subject)).toEqual([subject]);
  expect(server.received).toHaveLength(1);
});

it('gives a request its answer, and ends, when the database does not answer any more', async () => {
  let isSilent = false;
  let asked = 0;
  const line = new TcpProxy(() => {
    const { fromClient, fromServer } = watchPostgres();
    return {
      fromClient(chunk) {
        if (isSilent && chunk.includes('list-emails')) asked += 1;
        return fromClient(chunk);
      },
      fromServer,
    };
  });
  cleanups.push(() => line.stop());
  const port = await line.start();
  const socket = new URL(database.connectionString);
  line.target = { path: `${socket.searchParams.get('host')}/.s.PGSQL.${socket.port}` };
  await disposeService(service);
  const url = `postgres://${socket.username}@127.0.0.1:${port}${socket.pathname}`;
  service = await start(undefined, url, 6000);
  expect((await service.request('/api/emails')).status).toBe(200);
  line.silence();
  isSilent = true;
  // Statements have a minute, and connections half of one.
  const waiting = service.request('/api/emails');
  await waitUntil('the request waits for the database', () => asked > 0);
  const [response] = await Promise.all([waiting, service.stop()]);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    503,
    'database_unavailable',
  ]);
  expect(service.log.join('')).toContain('its connections are cut off');
});
