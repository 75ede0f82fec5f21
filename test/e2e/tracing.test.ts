/** The traces that an OpenTelemetry collector gets from the running service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../helpers/otlp-receiver.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../helpers/webhook-receiver.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

let collector: OtlpReceiver;
let receiver: WebhookReceiver;
let running: Awaited<ReturnType<typeof startServiceWithSink>>;

beforeAll(async () => {
  [collector, receiver] = await Promise.all([startOtlpReceiver(), startWebhookReceiver()]);
  running = await startServiceWithSink({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    WEBHOOK_ALLOW: '127.0.0.1',
  });
});
afterAll(async () => {
  await running.end();
  await receiver.close();
  await collector.close();
});

const named = (name: string) => collector.spans.filter((span) => span.name === name);
const below = ({ spanId }: ReceivedSpan) => collector.spans.filter(({ parentId }) => parentId === spanId);

it('follows a request through the database and the mail server, without what people wrote', async () => {
  const { service } = running;
  receiver.secret = null;
  const hook = { url: new URL('/a-path-of-the-endpoint', receiver.url).href };
  expect((await service.request('/api/webhooks', { json: hook })).status).toBe(201);
  const sent = await service.request('/api/send', {
    json: {
      to: 'Augusta King <lovelace@example.org>',
      cc: 'grace@example.org',
      subject: 'A subject of mine',
      text_body: 'The text of mine',
    },
    headers: { traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'crm:4711' },
  });
  expect(sent.status).toBe(200);
  const { threadId } = (await sent.json()) as { threadId: string };
  expect((await service.request(`/api/thread/${threadId}`)).status).toBe(200);
  await service.request('/api/customer/lovelace@example.org/emails?limit=1');
  await service.request('/api/health/ready');

  await expect.poll(() => named('deliver to webhook').length).toBeGreaterThan(0);
  await expect.poll(() => named('GET /api/customer/:customerId/emails')).toHaveLength(1);
  const [send] = named('POST /api/send');
  expect(send).toMatchObject({
    traceId: TRACE,
    parentId: PARENT,
    kind: 'server',
    isError: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/send',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'email_worker.request_id': 'crm:4711',
    },
  });
  const parts = below(send!);
  expect(parts.find(({ name }) => name === 'hand over')).toMatchObject({
    kind: 'client',
    traceId: TRACE,
    attributes: {
      'email_worker.account': 'default',
      'email_worker.recipients': 2,
      'email_worker.outcome': 'accepted',
      'smtp.response.status_code': 250,
    },
  });
  const statements = parts.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  expect(statements.map(({ attributes }) => attributes['db.query.summary']).join(' ')).toContain(
    'record-send',
  );

  const [read] = named('GET /api/thread/:threadId');
  expect(read).toMatchObject({ parentId: '', attributes: { 'http.response.status_code': 200 } });
  expect(below(read!)).toMatchObject([{ attributes: { 'db.system.name': 'postgresql' } }]);
  expect(named('deliver to webhook')[0]).toMatchObject({
    parentId: '',
    attributes: { 'http.response.status_code': 204 },
  });
  // Recurring work of loops is traced only as part of something else.
  const roots = collector.spans.filter(({ parentId }) => parentId === '').map(({ name }) => name);
  expect(roots.filter((name) => !/^(?:GET|POST) |^deliver to webhook$/.test(name))).toEqual([]);
  expect(collector.spans.some(({ name }) => name.includes('/api/health'))).toBe(false);
  expect(collector.text()).not.toMatch(
    /lovelace|grace@|Augusta|of mine|test-secret|a-path-of-the-endpoint|127\.0\.0\.1|sales@/,
  );
  expect(collector.requests[0]?.headers['x-tenant']).toBe('a b');
});

it('does not wait for a collector that fails', async () => {
  collector.status = 503;
  const before = running.sink.messages.length;
  const { service } = running;
  for (let index = 0; index < 5; index += 1) {
    const json = { to: 'ada@example.org', subject: `${index}`, text_body: 'x' };
    expect((await service.request('/api/send', { json })).status).toBe(200);
  }
  collector.status = 200;
  expect(await service.stop()).toBe(0);
  expect(running.sink.messages.length - before).toBe(5);
});
