/** A failed email: the page shows why, and lets a user with the right to send it again do so. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { startScriptedServer, type ScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

describe.skipIf(skipWithoutChromium())('an email that failed', () => {
  const pages = usePages();
  let database: TestDatabase;
  let server: ScriptedServer;
  let service: ServiceProcess;
  beforeAll(async () => {
    let messages = 0;
    [database, server] = await Promise.all([
      createTestDatabase(),
      // Refuses only the first message.
      startScriptedServer({
        script: { dot: () => ((messages += 1) === 1 ? '554 5.7.1 Looks like spam\r\n' : undefined) },
      }),
    ]);
    service = await startServiceProcess({
      env: { DATABASE_URL: database.connectionString, SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await server.close();
    await database.drop();
  });

  it('is sent again from where its failure is told, by those who may send', async () => {
    const response = await service.request('/api/send', {
      json: { to: 'ann@customer.test', subject: 'Refused at first', text_body: 'Hello' },
    });
    expect(response.ok).toBe(false);
    const { emails } = await getJson<{ emails: readonly { id: string; thread_id: string }[] }>(
      service,
      '/api/emails?state=failed',
    );
    const { id, thread_id: threadId } = emails[0]!;

    const made = await service.request('/api/keys', {
      json: { name: 'Reader', rights: ['read'], account_ids: '*' },
    });
    const { secret } = (await made.json()) as { secret: string };
    const reader = await pages.open(service.url, `/t/${threadId}`, secret);
    await reader.getByText('Not sent: this email reached no one.').waitFor();
    expect(await reader.getByRole('button', { name: /send again/i }).count()).toBe(0);

    const page = await pages.open(service.url, `/t/${threadId}`);
    await page.getByText('The recipient does not accept this email.').waitFor();
    const again = page.getByRole('button', { name: 'Send again', exact: true });
    await again.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await again.click();
    await page.getByText('Sending it again').waitFor();
    await expect.poll(() => server.accepted.length).toBe(1);
    await expect
      .poll(async () => (await getJson<{ state: string }>(service, `/api/emails/${id}`)).state)
      .toBe('sent');
    await again.waitFor({ state: 'detached' });
  });
});
