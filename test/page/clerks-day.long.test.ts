/** What costs a clerk an hour when it is wrong: a list that is old, a wrong sender, a session that ends, paper. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { writeAccounts } from '../helpers/thread-decisions.ts';

const GERMAN = { viewport: { width: 1360, height: 860 }, locale: 'de-DE' } as const;

describe.skipIf(skipWithoutChromium())('a clerk', () => {
  const pages = usePages();
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: await writeAccounts('sales', 'support'),
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
  });

  const open = (place: string, secret = TEST_SECRET): Promise<Page> =>
    pages.open(service.url, place, secret, GERMAN);
  const arrive = (subject: string, account = 'sales', body = 'Guten Tag') =>
    receive(
      service,
      mail({
        subject,
        body,
        from: 'Ann Example <ann@customer.test>',
        messageId: `<${randomUUID()}@customer.test>`,
        date: new Date().toUTCString().replace('GMT', '+0000'),
      }),
      `?account_id=${account}`,
    );
  const makeKey = async (name: string, ...rights: string[]): Promise<string> => {
    const made = await service.request('/api/keys', { json: { name, account_ids: '*', rights } });
    return ((await made.json()) as { secret: string }).secret;
  };

  it('finds mail that arrived while the list was scrolled down, back at its top', async () => {
    for (let number = 1; number <= 170; number++) await arrive(`Vorgang ${number}`);
    const page = await open('/f/open');
    const list = page.locator('.list-scroll');
    await page.getByText('Vorgang 170', { exact: true }).waitFor();
    await expect
      .poll(async () => {
        await list.evaluate(
          (element) => void ((element as unknown as { scrollTop: number }).scrollTop = 1e6),
        );
        return page.getByText('Vorgang 1', { exact: true }).count();
      })
      .toBe(1);
    await arrive('Eben gekommen');
    await page.getByRole('link', { name: /^Offen\s*171/ }).waitFor();
    await list.evaluate((element) => ((element as unknown as { scrollTop: number }).scrollTop = 0));
    await page.getByText('Eben gekommen', { exact: true }).waitFor();
  });

  it('writes from the account whose folder is open, and sees from which one an answer goes out', async () => {
    const { threadId } = await arrive('An den Support', 'support');
    const page = await open('/f/account:support');
    await page.locator('.row', { hasText: 'An den Support' }).waitFor();
    expect(await page.locator('.row-account').count()).toBe(0);
    await page.getByRole('button', { name: 'Neue Nachricht' }).click();
    await page.getByRole('button', { name: /^Von / }).getByText('support@').waitFor();
    await page.goto(`/t/${threadId}`);
    await page
      .locator('.row', { hasText: 'An den Support' })
      .locator('.row-account', { hasText: 'support' })
      .waitFor();
    await page.getByRole('button', { name: 'Antworten', exact: true }).click();
    await page.locator('.sender-only', { hasText: 'support@' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('loses nothing when the session ends while writing, and goes on after logging in again', async () => {
    const key = await makeKey('Mia', 'read', 'draft', 'send', 'handle');
    const { threadId } = await arrive('Sitzung zu Ende');
    const page = await open(`/t/${threadId}`, key);
    await page.getByRole('button', { name: 'Antworten', exact: true }).click();
    const text = page.getByRole('textbox', { name: 'Nachricht' });
    await text.focus();
    // The session ends before anything is saved.
    const ended = { status: 401, json: { error: 'Bitte anmelden.', code: 'invalid_credentials' } };
    await page.route('**/api/drafts', (route) => route.fulfill(ended));
    await page.keyboard.insertText('Der ganze Text.');
    await page.getByText('Was Sie gerade schreiben, ist noch da').waitFor();
    expect(
      await page.locator('.session').evaluate((element) => (element as unknown as { inert: boolean }).inert),
    ).toBe(true);
    await page.context().clearCookies();
    await page.unroute('**/api/drafts');
    await page.locator('input[name=secret]').fill(key);
    await page.keyboard.press('Enter');
    await expect.poll(() => text.innerText()).toContain('Der ganze Text.');
    await expect
      .poll(async () => {
        const { drafts } = (await (await service.request('/api/drafts')).json()) as {
          drafts: { id: string }[];
        };
        const stored = await service.request(`/api/drafts/${drafts[0]?.id}`);
        return JSON.stringify(await stored.json());
      })
      .toContain('Der ganze Text.');
  });

  it('keeps no place of one person for another, who logs in when the session has ended', async () => {
    const [mia, ben] = [await makeKey('Mia', 'read', 'handle'), await makeKey('Ben', 'read', 'handle')];
    await arrive('Nur für Mia');
    const page = await open('/f/open', mia);
    await page.locator('.row', { hasText: 'Nur für Mia' }).waitFor();
    const places = () =>
      page.evaluate<number>(`Object.keys(sessionStorage).filter((key) => key.includes('place')).length`);
    await page.evaluate(`sessionStorage.setItem('email-worker.place.line of Mia', '{}')`);
    await page.route('**/api/folders*', (route) =>
      route.fulfill({ status: 401, json: { error: 'Bitte anmelden.', code: 'invalid_credentials' } }),
    );
    await arrive('Noch eine');
    await page.locator('input[name=secret]').waitFor();
    await page.unroute('**/api/folders*');
    await page.context().clearCookies();
    const reloaded = page.waitForEvent('load');
    await page.locator('input[name=secret]').fill(ben);
    await page.keyboard.press('Enter');
    await reloaded;
    await page.locator('.row', { hasText: 'Nur für Mia' }).waitFor();
    expect(await places()).toBe(0);
  });

  it('prints the whole thread, and one email alone', async () => {
    const { threadId, messageId } = await arrive('Auf Papier', 'sales', 'Die erste Frage.');
    await receive(
      service,
      mail({
        subject: 'Re: Auf Papier',
        body: 'Die zweite Frage.',
        from: 'Ann Example <ann@customer.test>',
        inReplyTo: messageId,
        date: new Date(Date.now() + 1000).toUTCString().replace('GMT', '+0000'),
      }),
      '?account_id=sales',
    );
    const page = await open(`/t/${threadId}`);
    await page.locator('.message', { hasText: 'Die zweite Frage.' }).waitFor();
    // The browser takes its picture at this moment.
    await page.evaluate(`window.print = () => {
      window.dispatchEvent(new Event('beforeprint'));
      window.printedText = document.querySelector('.conversation').innerText;
      window.dispatchEvent(new Event('afterprint'));
    }`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
    const printed = () => page.evaluate<string>('window.printedText');
    await page.evaluate('document.querySelector(".thread-print button").click()');
    await expect.poll(printed).toContain('Die erste Frage.');
    expect(await printed()).toContain('Die zweite Frage.');
    expect(await page.locator('.shell-side').isVisible()).toBe(false);
    expect(await page.locator('.pane-list').isVisible()).toBe(false);
    await page.evaluate('[...document.querySelectorAll(".message-tools button")].at(-1).click()');
    await expect.poll(printed).not.toContain('Die erste Frage.');
    expect(await printed()).toContain('Die zweite Frage.');
  });

  it('clears a selection with Escape, and is told of a search operator that does not exist', async () => {
    const page = await open('/f/open');
    const boxes = page.getByRole('checkbox');
    await boxes.first().check();
    await page.getByText('1 ausgewählt').waitFor();
    await page.locator('#list').focus();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByText('1 ausgewählt').count()).toBe(0);
    await page.goto('/search?q=absender%3Aanna');
    await page.getByText('„absender:“ ist kein Suchbefehl').waitFor();
  });

  it('with a key that may only send is told that it may not read', async () => {
    const page = await open('/f/open', await makeKey('Shop', 'send'));
    await page.getByText('Mit diesem Schlüssel können Sie keine E-Mails lesen.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
