/** The built service with a database of its own, for the tests of one file. */
import { expect } from 'vitest';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';

export interface RunningService {
  readonly database: TestDatabase;
  readonly service: ServiceProcess;
  /** Stops the service and its SMTP server, if it has one, and drops the database. */
  end(): Promise<void>;
}

/** Without SMTP: sent mail goes into the outbox folder. */
export async function startServiceWithDatabase(
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const database = await createTestDatabase();
  const service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString, ...env } });
  return {
    database,
    service,
    async end() {
      await disposeService(service);
      await database.drop();
    },
  };
}

/** With an SMTP server that accepts everything; the account is `Sales <sales@example.com>`. */
export async function startServiceWithSink(
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService & { readonly sink: SmtpSink }> {
  const [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  const service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Sales <sales@example.com>',
      ...env,
    },
  });
  return {
    database,
    sink,
    service,
    async end() {
      await disposeService(service);
      await sink.stop();
      await database.drop();
    },
  };
}

/** The body of an answer that must be 200. */
export async function getJson<T>(service: ServiceProcess, path: string): Promise<T> {
  const response = await service.request(path);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

/** A key that may answer in all accounts: to which threads can be assigned. */
export async function makeClerk(
  service: ServiceProcess,
  name: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const json = { name, rights: ['read', 'draft', 'send', 'handle'], account_ids: '*' };
  const response = await service.request('/api/keys', { json });
  expect(response.status).toBe(201);
  const made = (await response.json()) as { key: { id: string }; secret: string };
  return { id: made.key.id, secret: made.secret };
}

export interface SentResult {
  readonly id: string;
  readonly messageId: string;
  readonly threadId: string;
}

/** `POST /api/send` that must be answered with 200. */
export async function sendJson(service: ServiceProcess, json: object): Promise<SentResult> {
  const response = await service.request('/api/send', { json });
  expect(response.status).toBe(200);
  return (await response.json()) as SentResult;
}
