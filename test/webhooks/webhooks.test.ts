/** Webhooks from outside: the built service posts its events to an endpoint that checks every signature. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../helpers/webhook-receiver.ts';

interface WebhookJson {
  readonly id: string;
  readonly state: string;
  readonly pause_reason: string | null;
  readonly pause_detail: string | null;
  readonly position: string;
  readonly header_names: readonly string[];
  readonly old_secret_until: string | null;
  readonly failing_since: string | null;
  readonly next_attempt_at: string | null;
}
interface DeliveryJson {
  readonly event_id: string;
  readonly event_type: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string;
}

const SEND = { to: 'customer@example.org', subject: 'Offer', text_body: 'Hello' };
const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
const TOKEN = 'Bearer of-the-crm-4711';

let database: TestDatabase;
let service: ServiceProcess;
let receiver: WebhookReceiver;
const made: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, WEBHOOK_ALLOW: '127.0.0.1' },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});
beforeEach(async () => {
  // The events of earlier tests are in the feed by now, so that no webhook of this test gets them.
  await backgroundWorkIsDone(database.connectionString);
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  for (const id of made.splice(0)) await call(`/${id}`, 'DELETE');
  await receiver.close();
  if (receiver.faults.length > 0) throw new Error(receiver.faults.join('\n'));
});

async function call<T>(path: string, method: string, json?: object): Promise<{ status: number; body: T }> {
  const response = await service.request(`/api/webhooks${path}`, {
    method,
    ...(json === undefined ? {} : { json }),
  });
  return { status: response.status, body: (await response.json()) as T };
}
const post = async <T = WebhookJson>(path: string, json?: object): Promise<T> => {
  const { status, body } = await call<T>(path, 'POST', json);
  expect({ status, body }).toMatchObject({ status: path === '' ? 201 : 200 });
  return body;
};
const read = (id: string) => getJson<WebhookJson>(service, `/api/webhooks/${id}`);
async function create(request: object = {}): Promise<WebhookJson> {
  const { webhook, secret } = await post<{ webhook: WebhookJson; secret: string }>('', {
    url: receiver.url,
    ...request,
  });
  receiver.secret = secret;
  made.push(webhook.id);
  return webhook;
}
const deliveries = async (id: string, search = '') =>
  (
    await getJson<{ deliveries: DeliveryJson[] }>(
      service,
      `/api/webhooks/${id}/deliveries?limit=200${search}`,
    )
  ).deliveries;
const received = (count: number) => waitUntil(`${count} came`, () => receiver.received.length >= count);
const latest = async () => (await getJson<{ id: string }>(service, '/api/events/latest')).id;

describe('a webhook', () => {
  it('gets each event of the feed once and in order, as the feed shows it', async () => {
    const start = await latest();
    const { id } = await create();
    for (let count = 0; count < 5; count += 1) await sendJson(service, SEND);
    await receive(service, mail());
    await received(12);
    const { events } = await getJson<{ events: object[] }>(service, `/api/events?after=${start}&limit=100`);
    expect(receiver.received.map(({ json }) => json)).toEqual(events);
    await waitUntil('its position is stored', async () => (await read(id)).position === (await latest()));
    const log = await deliveries(id);
    expect(log.map(({ event_id }) => event_id).toReversed()).toEqual(receiver.ids());
    expect(log[0]).toMatchObject({ attempt: 1, outcome: 'delivered', status: 204, error: null, answer: '' });
  });

  it('gets only what its filters let through, and its position moves over the rest', async () => {
    const { id } = await create({ types: ['email.sent'], customer_id: CUSTOMER, payload: 'thin' });
    await sendJson(service, SEND);
    const { id: emailId } = await sendJson(service, { ...SEND, customer_id: CUSTOMER });
    await received(1);
    await sendJson(service, SEND);
    expect(receiver.received.map(({ json }) => json)).toEqual([
      expect.objectContaining({ type: 'email.sent', email_id: emailId, customer_id: CUSTOMER }),
    ]);
    expect(receiver.received[0]?.json).not.toHaveProperty('data');
    await waitUntil(
      'its position is stored',
      async () => (await read(id)).position >= (receiver.ids()[0] ?? ''),
    );
  });

  it('goes on where it was after a pause by hand', async () => {
    const { id } = await create({ types: ['email.sent'] });
    await sendJson(service, SEND);
    await received(1);
    expect(await post(`/${id}/pause`)).toMatchObject({ state: 'paused', pause_reason: 'by_hand' });
    const { id: emailId } = await sendJson(service, SEND);
    expect(await read(id)).toMatchObject({ state: 'paused' });
    expect(receiver.received).toHaveLength(1);
    expect(await post(`/${id}/resume`)).toMatchObject({ state: 'active', pause_reason: null });
    await received(2);
    expect(receiver.received[1]?.json).toMatchObject({ email_id: emailId });
  });

  it('gets events again, from an id or a time, under their ids', async () => {
    const start = await latest();
    const { id } = await create({ types: ['email.sent'] });
    const since = new Date().toISOString();
    for (let count = 0; count < 3; count += 1) await sendJson(service, SEND);
    await received(3);
    const first = receiver.ids();
    await post(`/${id}/replay`, { after: start });
    await received(6);
    await post(`/${id}/replay`, { since });
    await received(9);
    expect(receiver.ids()).toEqual([...first, ...first, ...first]);
    expect((await call(`/${id}/replay`, 'POST', { after: 'fffffffffff00000' })).status).toBe(400);
    expect((await call(`/${id}/replay`, 'POST', {})).status).toBe(400);
    expect((await call(`/${id}/replay`, 'POST', { since: '2001-01-01T00:00:00Z' })).body).toBeDefined();
  });

  it('signs with both secrets while one is rotated, and with the new one alone afterwards', async () => {
    const { id } = await create({ types: ['email.sent'] });
    const old = receiver.secret;
    const { secret, webhook } = await post<{ secret: string; webhook: WebhookJson }>(`/${id}/rotate-secret`, {
      old_valid_hours: 1,
    });
    expect(secret).not.toBe(old);
    expect(Date.parse(webhook.old_secret_until ?? '')).toBeGreaterThan(Date.now() + 3_500_000);
    await sendJson(service, SEND);
    await received(1);
    receiver.secret = secret;
    await sendJson(service, SEND);
    await received(2);
    expect(receiver.received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    const { secret: third } = await post<{ secret: string }>(`/${id}/rotate-secret`, { old_valid_hours: 0 });
    receiver.secret = third;
    await sendJson(service, SEND);
    await received(3);
    expect(receiver.received[2]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  it('adds its own header fields, whose values are shown nowhere', async () => {
    const webhook = await create({
      types: ['email.sent'],
      headers: { Authorization: TOKEN, 'X-Tenant': '7' },
    });
    expect(webhook.header_names).toEqual(['Authorization', 'X-Tenant']);
    await sendJson(service, SEND);
    await received(1);
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: TOKEN,
      'x-tenant': '7',
      'user-agent': 'email-worker',
      'content-type': 'application/json',
    });
    await call(`/${webhook.id}`, 'PATCH', { headers: { Authorization: TOKEN } });
    const rows = await query(
      database.connectionString,
      `select w::text || encode(sealed, 'escape') as text from webhooks w`,
    );
    const texts = [...service.log, JSON.stringify(await read(webhook.id)), JSON.stringify(rows)].join('\n');
    expect(texts).not.toContain('of-the-crm-4711');
    expect(texts).not.toContain(receiver.secret?.slice('whsec_'.length));
  });

  it('is tested, also while it is paused, and says what became of it', async () => {
    const { id } = await create();
    await post(`/${id}/pause`);
    expect(await post<DeliveryJson>(`/${id}/test`)).toMatchObject({
      event_type: 'webhook.test',
      outcome: 'delivered',
      status: 204,
    });
    receiver.respond = (response) => void response.writeHead(500).end('no \0 good');
    expect(await post<DeliveryJson>(`/${id}/test`)).toMatchObject({
      outcome: 'failed',
      status: 500,
      answer: 'no \u{fffd} good',
    });
    expect((await deliveries(id)).map(({ outcome }) => outcome)).toEqual(['failed', 'delivered']);
    expect((await deliveries(id, '&outcome=failed')).map(({ outcome }) => outcome)).toEqual(['failed']);
  });

  it('is paused by 410, which is seen and is an event of its own, and resumed by hand', async () => {
    const other = await startWebhookReceiver();
    await post('', { url: other.url, types: ['webhook.paused', 'webhook.resumed'] });
    const { id } = await create({ types: ['email.sent'] });
    receiver.respond = (response) => void response.writeHead(410).end();
    await sendJson(service, SEND);
    await sendJson(service, SEND);
    await waitUntil('it is paused', async () => (await read(id)).state === 'paused');
    const webhook = await read(id);
    expect(webhook).toMatchObject({ pause_reason: 'gone' });
    expect(webhook.pause_detail).toContain('410');
    expect(receiver.received).toHaveLength(1);
    await waitUntil('the other one is told', () => other.received.length > 0);
    expect(other.received[0]?.json).toMatchObject({
      type: 'webhook.paused',
      data: { webhook_id: id, reason: 'gone' },
    });
    receiver.respond = (response) => void response.writeHead(200).end();
    await post(`/${id}/resume`);
    await received(3);
    expect(new Set(receiver.ids()).size).toBe(2);
    await waitUntil('the other one is told', () => other.received.length > 1);
    expect(other.received[1]?.json).toMatchObject({ type: 'webhook.resumed', data: { webhook_id: id } });
    await other.close();
  });

  it('waits for one that fails, and then goes on in order', { tags: ['long'] }, async () => {
    const { id } = await create({ types: ['email.sent'] });
    let failures = 1;
    receiver.respond = (response) =>
      void response.writeHead(failures-- > 0 ? 503 : 204, { 'retry-after': '3' }).end();
    for (let count = 0; count < 3; count += 1) await sendJson(service, SEND);
    await waitUntil('it is seen', async () => (await read(id)).failing_since !== null);
    await received(4);
    const [first, ...others] = receiver.ids();
    expect(others[0]).toBe(first);
    expect(others).toEqual(others.toSorted());
    await waitUntil('all are stored', async () => (await deliveries(id)).length === 4);
    expect((await read(id)).failing_since).toBeNull();
    expect((await deliveries(id)).map(({ outcome, attempt }) => `${outcome} ${attempt}`)).toEqual([
      'delivered 1',
      'delivered 1',
      'delivered 2',
      'failed 1',
    ]);
  });
});

describe('managing webhooks', () => {
  it('reads them page by page, changes and deletes them', async () => {
    const { id } = await create({ description: 'first' });
    const { id: second } = await create({ description: 'second' });
    const page = await getJson<{ webhooks: WebhookJson[]; next_cursor: string }>(
      service,
      '/api/webhooks?limit=1',
    );
    expect(page.webhooks.map((webhook) => webhook.id)).toEqual([second]);
    const next = await getJson<{ webhooks: WebhookJson[] }>(
      service,
      `/api/webhooks?limit=1&cursor=${page.next_cursor}`,
    );
    expect(next.webhooks.map((webhook) => webhook.id)).toEqual([id]);
    expect((await call(`/${id}`, 'PATCH', { max_in_flight: 3, types: ['email.sent'] })).body).toMatchObject({
      description: 'first',
      max_in_flight: 3,
      types: ['email.sent'],
    });
    expect((await call(`/${id}`, 'DELETE')).status).toBe(200);
    expect(await call(`/${id}`, 'GET')).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } });
  });

  it.each([
    [{ url: 'ftp://example.com/' }, 'invalid_webhook_url'],
    [{ url: 'https://user:secret@example.com/' }, 'invalid_webhook_url'],
    [{ url: 'https://10.0.0.1/' }, 'webhook_address_refused'],
    [{ url: 'https://2130706434/' }, 'webhook_address_refused'],
    [{ headers: { 'Content-Length': '1' } }, 'invalid_webhook_header'],
    [{ headers: { 'Webhook-Id': '1' } }, 'invalid_webhook_header'],
    [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'invalid_webhook_header'],
    [{ account_id: 'unknown' }, 'unknown_account'],
    [{ types: ['email.invented'] }, 'invalid_request'],
    [{ max_in_flight: 0 }, 'invalid_request'],
    [{ after: 'fffffffffff00000' }, 'invalid_request'],
    [{ secret: 'x' }, 'unknown_field'],
  ])('refuses %j with %s', async (request, code) => {
    expect(await call('', 'POST', { url: 'https://example.com/', ...request })).toMatchObject({
      status: 400,
      body: { code },
    });
  });
});
