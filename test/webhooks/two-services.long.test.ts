/** Two services with one database: deliveries that one was making when it was killed are made by the other. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../helpers/webhook-receiver.ts';

const LEASE_MS = 1500;
const SEND = { to: 'customer@example.org', subject: 'Offer', text_body: 'Hello' };

let database: TestDatabase;
let folders: readonly string[];
let services: ServiceProcess[];
let receiver: WebhookReceiver;

beforeEach(async () => {
  database = await createTestDatabase();
  folders = await Promise.all([0, 1].map(() => mkdtemp(path.join(tmpdir(), 'email-worker-test-'))));
  services = [await start(0), await start(1)];
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  await receiver.close();
  await database.drop();
});

const start = (index: number) =>
  startServiceProcess({
    dataDir: folders[index] ?? '',
    env: {
      DATABASE_URL: database.connectionString,
      WEBHOOK_ALLOW: '127.0.0.1',
      WEBHOOK_LEASE_MS: String(LEASE_MS),
      WORK_POLL_MS: '200',
    },
  });

async function create(request: object): Promise<string> {
  const [service] = services as [ServiceProcess];
  const response = await service.request('/api/webhooks', { json: { url: receiver.url, ...request } });
  expect(response.status).toBe(201);
  const { webhook, secret } = (await response.json()) as { webhook: { id: string }; secret: string };
  receiver.secret = secret;
  return webhook.id;
}

const allEvents = async () =>
  (await query(database.connectionString, 'select position from events order by position')).map(
    ({ position }) => Number(position).toString(16).padStart(16, '0'),
  );

/** The service that is delivering. */
async function owner(): Promise<number> {
  const ids = await Promise.all(
    services.map(async ({ dataDir }) => (await readFile(path.join(dataDir, 'instance-id'), 'utf8')).trim()),
  );
  let found = -1;
  await waitUntil('a service has the webhook', async () => {
    const [row] = await query(database.connectionString, 'select owner from webhook_positions');
    found = ids.indexOf(String(row?.owner));
    return found >= 0;
  });
  return found;
}

it.each([1, 4])(
  'with %d requests at a time, every event arrives, whichever is killed',
  async (maxInFlight) => {
    receiver.respond = (response) => void setTimeout(() => response.writeHead(204).end(), 20 * maxInFlight);
    const id = await create({ max_in_flight: maxInFlight });
    for (let round = 0; round < 3; round += 1) {
      const index = await owner();
      const other = services[1 - index] as ServiceProcess;
      const before = receiver.received.length;
      const sent = Promise.all(Array.from({ length: 10 }, () => sendJson(other, SEND)));
      await waitUntil('deliveries are under way', () => receiver.received.length > before + 3);
      await services[index]?.kill();
      await sent;
      for (let count = 0; count < 5; count += 1) await sendJson(other, SEND);
      services[index] = await start(index);
    }
    const [service] = services as [ServiceProcess];
    await waitUntil('all is numbered and delivered', async () => {
      const inbox = await query(database.connectionString, 'select from event_inbox limit 1');
      const { position } = await getJson<{ position: string }>(service, `/api/webhooks/${id}`);
      return inbox.length === 0 && position === (await allEvents()).at(-1);
    });
    const events = await allEvents();
    expect(events.length).toBeGreaterThan(80);
    expect(receiver.faults).toEqual([]);
    // The repeated events are those that a killed process had not stored.
    expect(receiver.received.length - events.length).toBeLessThan(3 * 60);
    const inOrder = [...new Set(receiver.ids())];
    expect(maxInFlight === 1 ? inOrder : inOrder.toSorted()).toEqual(events);
  },
);

it('a change by one service is obeyed by the other', async () => {
  const id = await create({ types: ['email.sent'] });
  const index = await owner();
  const other = services[1 - index] as ServiceProcess;
  const post = (act: string) => other.request(`/api/webhooks/${id}/${act}`, { method: 'POST' });
  await sendJson(other, SEND);
  await waitUntil('it came', () => receiver.received.length === 1);
  expect((await post('pause')).status).toBe(200);
  await waitUntil('the watch has seen it', async () => {
    const rows = await query(
      database.connectionString,
      `select from webhook_positions where lease_until < now() - interval '100 ms'`,
    );
    return rows.length === 1;
  });
  await sendJson(other, SEND);
  expect(receiver.received).toHaveLength(1);
  expect((await post('resume')).status).toBe(200);
  await waitUntil('it came', () => receiver.received.length === 2);
});
