/** Signed and encrypted mail: what is in it without a key is shown and found, and what is not is said. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

interface EmailJson {
  readonly protection: string | null;
  readonly text_body: string;
  readonly email_attachments: readonly { readonly id: string; readonly filename: string }[];
}
const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/eml/real/${name}.eml`, import.meta.url));
const emailOf = (id: string) => getJson<EmailJson>(running.service, `/api/emails/${id}`);

it('shows, finds and hands out what a signed S/MIME message contains', async () => {
  const { id, threadId } = await receive(running.service, fixture('smime-opaque'));
  const email = await emailOf(id);
  expect(email).toMatchObject({ protection: 'smime_signed', text_body: 'Grüße aus dem signierten Teil' });
  const names = email.email_attachments.map(({ filename }) => filename);
  expect(names).toEqual(['rechnung.pdf', 'smime.p7m']);
  const [pdf] = email.email_attachments;
  const file = await running.service.request(`/api/attachments/${pdf?.id}`);
  expect(await file.text()).toBe('%PDF-1.4\n');
  const { emails } = await getJson<{ emails: readonly EmailJson[] }>(
    running.service,
    `/api/threads/${threadId}`,
  );
  expect(emails[0]?.protection).toBe('smime_signed');
  await backgroundWorkIsDone(running.database.connectionString);
  const found = await getJson<{ threads: readonly { readonly id: string }[] }>(
    running.service,
    '/api/threads?q=signierten',
  );
  expect(found.threads.map((thread) => thread.id)).toContain(threadId);
});

it.each([
  ['smime-encrypted', 'smime_encrypted'],
  ['pgp-encrypted', 'pgp_encrypted'],
])('says in place of an empty text that a message is encrypted: %s', async (name, protection) => {
  const { id } = await receive(running.service, fixture(name));
  const email = await emailOf(id);
  expect(email.protection).toBe(protection);
  expect(email.text_body).toMatch(/^Diese E-Mail ist verschlüsselt/);
  await backgroundWorkIsDone(running.database.connectionString);
  const events = await query(
    running.database.connectionString,
    `select data::json ->> 'protection' as protection from events where email_id = $1 and type = 'email.received'`,
    [id],
  );
  expect(events).toEqual([{ protection }]);
});
