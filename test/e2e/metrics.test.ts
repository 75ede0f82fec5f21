/** An operator's view of a running service: its metrics and its access log. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

/** Polls rarely, for a busy machine. */
const patient = { interval: 100 };

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      METRICS_LISTEN: '127.0.0.1:0',
      ACCESS_LOG: 'routes',
    },
  });
});
afterAll(async () => {
  await disposeService(service);
  await sink.stop();
  await database.drop();
});

const linesWith = (text: string) =>
  service.log
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it('tells Prometheus what it does, and logs each request, without what people wrote', async () => {
  const mail = { to: 'lovelace@example.org', subject: 'A subject', text_body: 'Hello' };
  const sent = await service.request('/api/send', {
    method: 'POST',
    json: mail,
    headers: { 'x-request-id': 'crm:4711' },
  });
  expect(sent.status).toBe(200);
  expect(sent.headers.get('x-request-id')).toBe('crm:4711');
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const later = await service.request('/api/send', { method: 'POST', json: { ...mail, send_at: sendAt } });
  expect(later.status).toBe(202);
  await service.request('/api/customer/lovelace@example.org/emails');

  await expect.poll(() => linesWith('"log":"access"'), patient).toHaveLength(3);
  expect(linesWith('"requestId":"crm:4711"')).toMatchObject([
    { log: 'access', method: 'POST', route: '/api/send', status: 200, by: { credential: 1 } },
  ]);

  const [{ port }] = linesWith('metrics are at') as [{ port: number }];
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const line of [
    'email_worker_send_attempt_duration_seconds_count{account="default",outcome="accepted"} 1',
    'email_worker_http_request_duration_seconds_count{method="POST",route="/api/send",status="200"} 1',
    'email_worker_http_request_duration_seconds_count{method="POST",route="/api/send",status="202"} 1',
    'email_worker_send_queue_size{account="default"} 1',
    'email_worker_send_queue_oldest_due_seconds{account="default"} 0',
    'email_worker_sends_unknown{account="default"} 0',
    'email_worker_database_up 1',
    'email_worker_database_connections_max 10',
    'email_worker_journal_entries_without_outcome 0',
  ]) {
    await expect.poll(scrape, patient).toContain(`\n${line}\n`);
  }
  const text = await scrape();
  expect(text).toMatch(/^email_worker_database_statement_duration_seconds_count [1-9]/m);
  expect(text).toMatch(/^email_worker_journal_size_bytes [1-9]/m);
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
  const told =
    text +
    linesWith('"log":"access"')
      .map((line) => JSON.stringify(line))
      .join('\n');
  expect(told).not.toMatch(/lovelace|A subject|test-secret/);
});
