/** Operators' work in the page: the service as a process, a mail server that breaks the connection, Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson } from '../helpers/running-service.ts';
import { CLOSE, startScriptedServer, type ScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

describe.skipIf(skipWithoutChromium())('an operator', () => {
  const pages = usePages();
  let database: TestDatabase;
  let server: ScriptedServer;
  let service: ServiceProcess;
  beforeAll(async () => {
    // Accepts no message: the connection breaks after each one.
    [database, server] = await Promise.all([
      createTestDatabase(),
      startScriptedServer({ script: { dot: () => CLOSE } }),
    ]);
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        PUBLIC_URL: 'https://mail.example.test',
      },
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
    await row.getByText('The connection was lost after the email was handed over.').click();
    await row.getByText('no valid reply to the end of the message').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await stateOf(id)).toBe('unknown');
    await row.getByRole('button', { name: 'It was sent' }).click();
    await page.getByText('Nothing here.').waitFor();
    await expect.poll(() => stateOf(id)).toBe('sent');
  });

  it('gives the owner of a mailbox the link for a consent', async () => {
    const made = await service.request('/api/accounts', {
      json: {
        id: 'sales',
        from: 'Sales <sales@example.test>',
        imap_url: 'imaps://sales%40example.test@imap.example.test',
        oauth2: { provider: 'google', client_id: 'the-client' },
      },
    });
    expect(made.status).toBe(201);
    const page = await pages.open(service.url, '/operate/accounts');
    const card = page.locator('li.card', { hasText: 'sales@example.test' });
    await card.getByText('No access').waitFor();
    await card.getByRole('button', { name: 'Grant access' }).click();
    const link = card.getByRole('link', { name: 'Go to the provider' });
    expect(await link.getAttribute('href')).toMatch(
      /^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/,
    );
    expect(await accessibilityFaults(page)).toEqual([]);
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
    // Which accounts has to be said.
    expect(await page.getByRole('button', { name: 'Create the key' }).isDisabled()).toBe(true);
    await page.getByText('All accounts, including later ones').click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create the key' }).click();
    const secret = await page.locator('.key-secret').textContent();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('tr', { hasText: 'Jana' }).getByText('Send').waitFor();

    const colleague = await pages.open(service.url, '/operate/keys', secret!);
    await colleague.getByText('There is nothing here.').waitFor();
    const tabs = colleague.getByRole('navigation', { name: 'Operations' }).getByRole('link');
    expect(await tabs.allTextContents()).toEqual(['Accounts', 'Outgoing mail', 'Kept apart', 'Sessions']);

    await page.locator('tr', { hasText: 'Jana' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Continue' }).click();
    await page.locator('tr', { hasText: 'Jana' }).getByText('Revoked').waitFor();
    await colleague.goto('/operate/accounts');
    await colleague.locator('input[name=secret]').waitFor();
  });

  const countReceived = async (): Promise<number> => {
    const { points } = await getJson<{ points: readonly { received: number }[] }>(
      service,
      '/api/statistics?step=hour',
    );
    return points.reduce((sum, { received }) => sum + received, 0);
  };

  it.each([
    {
      look: 'English',
      words: ['48 hours', 'Received', 'Show as a table', 'Time to receive'],
      options: { viewport: { width: 1360, height: 860 }, locale: 'en-GB', timezoneId: 'Asia/Kolkata' },
    },
    {
      look: 'German, dark and narrow',
      words: ['48 Stunden', 'Empfangen', 'Als Tabelle zeigen', 'Dauer des Empfangs'],
      options: {
        viewport: { width: 390, height: 800 },
        locale: 'de-DE',
        colorScheme: 'dark',
        timezoneId: 'Europe/Berlin',
      },
    },
  ] as const)('sees how much mail came, drawn and as a table: $look', async ({ words, options }) => {
    const [hours, received, asTable, latencyTitle] = words;
    const before = await countReceived();
    await receive(service, mail());
    await waitUntil('the email is counted', async () => (await countReceived()) === before + 1);

    const page = await pages.open(service.url, '/operate/figures', undefined, options);
    await page.getByRole('button', { name: hours }).click();
    const figure = page.locator('.figure').first();
    await figure
      .locator('[data-kind=received] dd')
      .getByText(String(before + 1), { exact: true })
      .waitFor();
    expect(await figure.locator('dt').first().textContent()).toBe(received);
    // Some pixel has a colour of the style sheet, so the canvas is not empty.
    await waitUntil('it is drawn', () =>
      page.evaluate<boolean>(`(() => {
        const canvas = document.querySelector('.figure canvas');
        if (canvas === null || canvas.width === 0) return false;
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const [red, green, blue] = getComputedStyle(document.querySelector('.plot [data-kind=received]')).color.match(/\\d+/g);
        return data.some((_, at) => at % 4 === 0 && data[at] == red && data[at + 1] == green && data[at + 2] == blue);
      })()`),
    );
    const latency = page.getByRole('region', { name: latencyTitle });
    await latency.locator('[data-kind=median_ms] dd').getByText(/\d/).waitFor();
    expect(await latency.locator('canvas').count()).toBe(1);
    await page.getByText(asTable).click();
    const row = page.locator('.figures-table tbody tr').first();
    await row
      .locator('td')
      .nth(1)
      .getByText(String(before + 1), { exact: true })
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it('sees how far imports are', async () => {
    const page = await pages.open(service.url, '/operate/imports');
    await page.getByText('Nothing was imported in the last 90 days.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await query(
      database.connectionString,
      `insert into imports (account_id, updated_at, outcome, imported, failed, bytes_done, bytes_total) values
        ('running', now() + interval '1 day', null, 1234, 0, 500000, 2000000),
        ('cut', now() - interval '1 hour', null, 7, 2, 900, null),
        ('done', now(), 'done', 10, 0, 100, 100)`,
    );
    const running = page.locator('.card', { hasText: 'Into running' });
    await running.getByText('500 kB of 2 MB · 25%').waitFor();
    expect(await running.getByRole('progressbar').getAttribute('value')).toBe('0.25');
    await page.locator('.card', { hasText: 'Into cut' }).getByText('continue where it stopped').waitFor();
    expect(await page.locator('.card', { hasText: 'Into done' }).getByRole('progressbar').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it.each(['accounts', 'quarantine', 'webhooks', 'audit'])('sees the view of %s', async (section) => {
    const page = await pages.open(service.url, `/operate/${section}`);
    await page.locator('.operate-table, .cards, .operate-body .empty').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
