/** What operators do in the page: the service as a process, a mail server that breaks the line, Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { CLOSE, startScriptedServer, type ScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

describe.skipIf(skipWithoutChromium())('an operator', () => {
  const pages = usePages();
  let database: TestDatabase;
  let server: ScriptedServer;
  let service: ServiceProcess;
  beforeAll(async () => {
    // Takes no message: the line breaks behind each.
    [database, server] = await Promise.all([
      createTestDatabase(),
      startScriptedServer({ script: { dot: () => CLOSE } }),
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

  const stateOf = async (id: string) =>
    (await getJson<{ state: string }>(service, `/api/emails/${id}`)).state;

  it('says what became of a send whose outcome is unknown', async () => {
    const response = await service.request('/api/send', {
      json: { to: 'ann@customer.test', subject: 'Lost on the way', text_body: 'Hello' },
    });
    expect(response.status).toBe(500);
    const { emails } = await getJson<{ emails: readonly { id: string }[] }>(
      service,
      '/api/emails?state=unknown',
    );
    const id = emails[0]!.id;
    const page = await pages.open(service.url, '/operate/sends');
    const row = page.locator('tr', { hasText: 'Lost on the way' });
    await row.getByText('no valid reply to the end of the message').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await stateOf(id)).toBe('unknown');
    await row.getByRole('button', { name: 'It was sent' }).click();
    await page.getByText('Nothing here.').waitFor();
    await expect.poll(() => stateOf(id)).toBe('sent');
  });

  it('suppresses an address, and allows it again', async () => {
    const page = await pages.open(service.url, '/operate/suppressions');
    await page.getByLabel('Address').fill('gone@customer.test');
    await page.getByLabel('Why').fill('moved away');
    await page.getByRole('button', { name: 'Suppress an address' }).click();
    const row = page.locator('tr', { hasText: 'gone@customer.test' });
    await row.getByText('moved away').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Allow again' }).click();
    await page.getByText('No address is suppressed.').waitFor();
    const { suppressions } = await getJson<{ suppressions: readonly unknown[] }>(
      service,
      '/api/suppressions',
    );
    expect(suppressions).toEqual([]);
  });

  it('makes a key for a colleague, who sees what it opens, and revokes it', async () => {
    const page = await pages.open(service.url, '/operate/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Jana');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the key' }).click();
    const secret = await page.locator('.key-secret').textContent();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('tr', { hasText: 'Jana' }).getByText('Send').waitFor();

    const colleague = await pages.open(service.url, '/operate/keys', secret!);
    await colleague.getByText('There is nothing here.').waitFor();
    const tabs = colleague.getByRole('navigation', { name: 'Operations' }).getByRole('link');
    expect(await tabs.allTextContents()).toEqual([
      'Accounts',
      'Outgoing mail',
      'Suppressed',
      'Set aside',
      'Kept apart',
    ]);

    await page.locator('tr', { hasText: 'Jana' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Go on' }).click();
    await page.locator('tr', { hasText: 'Jana' }).getByText('Revoked').waitFor();
    await colleague.goto('/operate/accounts');
    await colleague.locator('input[name=secret]').waitFor();
  });

  it.each(['accounts', 'quarantine', 'webhooks', 'audit'])('sees the view of %s', async (section) => {
    const page = await pages.open(service.url, `/operate/${section}`);
    await page.locator('.operate-table, .cards, .operate-body .empty').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
