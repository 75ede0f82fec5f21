/** Spam, blocked senders and rules in the page, with Chromium. SCREENSHOTS names a folder for pictures of them. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithDatabase, type RunningService } from '../helpers/running-service.ts';

const SCREENSHOTS = process.env['SCREENSHOTS'];

/** Light, dark, and on a phone. */
async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  const size = page.viewportSize();
  const take = (look: string) => page.screenshot({ path: path.join(SCREENSHOTS, `${name}-${look}.png`) });
  await page.emulateMedia({ colorScheme: 'light' });
  await take('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await take('dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'light' });
  await take('phone');
  if (size !== null) await page.setViewportSize(size);
}

describe.skipIf(skipWithoutChromium())('a clerk', () => {
  const pages = usePages();
  let running: RunningService;
  beforeAll(async () => {
    running = await startServiceWithDatabase();
  });
  afterAll(() => running.end());

  const statusOf = async (threadId: string) => {
    await backgroundWorkIsDone(running.database.connectionString);
    return (await getJson<{ thread: { status: string } }>(running.service, `/api/threads/${threadId}`)).thread
      .status;
  };
  const blocked = async () =>
    (
      await getJson<{ blocked_senders: { sender: string }[] }>(running.service, '/api/blocked-senders')
    ).blocked_senders.map(({ sender }) => sender);

  it('blocks a sender, and takes it back', { timeout: 120_000 }, async () => {
    const { threadId } = await receive(
      running.service,
      mail({ subject: 'Win a car', from: 'Luck <win@spam.test>' }),
    );
    const page = await pages.open(running.service.url, `/f/open/${threadId}`);
    await page.getByRole('button', { name: 'Spam', exact: true }).click();
    await picture(page, 'menu');
    await page.getByRole('menuitem', { name: 'Block win@spam.test' }).click();
    await page.getByText('win@spam.test is blocked').waitFor();
    await expect.poll(() => statusOf(threadId)).toBe('spam');
    expect(await blocked()).toEqual(['win@spam.test']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => statusOf(threadId)).toBe('open');
    await expect.poll(blocked).toEqual([]);
  });

  it('finds spam in a folder of its own', { timeout: 120_000 }, async () => {
    const { threadId } = await receive(
      running.service,
      mail({ subject: 'Cheap pills', from: 'x@spam.test' }),
    );
    await running.service.request(`/api/threads/${threadId}`, { method: 'PATCH', json: { status: 'spam' } });
    const page = await pages.open(running.service.url, '/f/open');
    await page.getByText('Win a car').first().waitFor();
    expect(await page.getByText('Cheap pills').count()).toBe(0);
    await page.getByRole('link', { name: 'Spam' }).click();
    await page.getByText('Cheap pills').first().click();
    await page.getByRole('button', { name: 'Not spam' }).waitFor();
    // Off the row, which shows more under the pointer.
    await page.mouse.move(1000, 700);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, 'folder');
    await page.getByRole('button', { name: 'Not spam' }).click();
    await expect.poll(() => statusOf(threadId)).toBe('open');
  });

  it('switches a rule off, and unblocks a sender', { timeout: 120_000 }, async () => {
    const made = await running.service.request('/api/rules', {
      json: {
        name: 'Invoices',
        account_ids: '*',
        conditions: [{ subject: 'Invoice' }, { header: { name: 'X-Spam-Flag', equals: 'no' } }],
        actions: { add_labels: ['invoice'], status: 'done' },
        stop: true,
      },
    });
    const { id } = (await made.json()) as { id: string };
    const page = await pages.open(running.service.url, '/operate/rules');
    const row = page.locator('tr', { hasText: 'Invoices' });
    await row.getByText('all of: subject Invoice · header X-Spam-Flag = no').waitFor();
    await page.getByLabel('Address, or *@domain').fill('*@bulk.test');
    await page.getByRole('button', { name: 'Block a sender' }).click();
    await page.locator('tr', { hasText: '*@bulk.test' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, 'rules');
    await row.getByRole('button', { name: 'Turn off' }).click();
    await row.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await getJson(running.service, `/api/rules/${id}`)).toMatchObject({ active: false });
    await page.locator('tr', { hasText: '*@bulk.test' }).getByRole('button', { name: 'Unblock' }).click();
    await expect.poll(blocked).toEqual([]);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Continue' }).click();
    await page.getByText('There are no rules.').waitFor();
  });
});
