/** Input from callers and strangers never becomes part of a statement: it is text, and comes back as it was given. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const TEXTS = [
  "'; drop table emails; --",
  "' or '1'='1",
  '"; delete from emails; --',
  '$1); select pg_sleep(60); --',
  "\\'; truncate suppressions; --",
  "$$; update emails set subject = 'x'; $$",
  '/* */ union select * from pg_authid --',
  '%_\\%',
];

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    env: { DATABASE_URL: database.connectionString, MAIL_FROM: 'sales@example.com' },
  });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

async function call(path: string, init: { method?: string; json?: unknown } = {}) {
  const response = await service.request(path, init);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

it.each(TEXTS)('is text, wherever it stands', async (text) => {
  const fields = { to: 'ann@example.org', subject: text, text_body: text, lane: text };
  const sent = await call('/api/send', { json: fields });
  expect(sent.status).toBe(200);
  const received = await receive(service, mail({ messageId: newId(), subject: text, body: text }));
  for (const id of [sent.json['id'], received.id]) {
    expect((await call(`/api/emails/${String(id)}`)).json).toMatchObject({ subject: text });
  }

  const encoded = encodeURIComponent(text);
  const refused = [400, 404];
  expect((await call(`/api/emails?q=${encoded}`)).status).toBe(200);
  expect((await call(`/api/threads?q=${encoded}`)).status).toBe(200);
  expect(refused).toContain((await call(`/api/emails?cursor=${encoded}`)).status);
  expect(refused).toContain((await call(`/api/emails?account_id=${encoded}`)).status);
  expect(refused).toContain((await call(`/api/thread/${encoded}`)).status);
  const quoted = encodeURIComponent(`"${text.replace(/["\\]/g, '\\$&')}"@example.org`);
  expect(
    (await call(`/api/suppressions/${quoted}`, { method: 'PUT', json: { note: text } })).json,
  ).toMatchObject({
    note: text,
  });
  expect((await call(`/api/suppressions/${quoted}`)).json).toMatchObject({ note: text });
});

it('leaves every record as it was', async () => {
  const [counts] = await query(
    database.connectionString,
    `select (select count(*) from emails) as emails, (select count(distinct subject) from emails) as subjects,
      (select count(*) from suppressions) as suppressions`,
  );
  expect(counts).toEqual({
    emails: String(2 * TEXTS.length),
    subjects: String(TEXTS.length),
    suppressions: String(TEXTS.length),
  });
});
