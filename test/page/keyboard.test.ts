/** What a person does in the page with the keyboard alone: the focus is never lost. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { usePages } from '../helpers/open-page.ts';
import { startServiceWithDatabase, type RunningService } from '../helpers/running-service.ts';

/** Names what has the focus; null: nothing has. */
const focused = (page: Page) =>
  page.evaluate<string | null>(
    `document.activeElement === document.body ? null : document.activeElement.ariaLabel ?? document.activeElement.textContent`,
  );

describe.skipIf(skipWithoutChromium())('with the keyboard alone', () => {
  const pages = usePages();
  let running: RunningService;
  beforeAll(async () => {
    running = await startServiceWithDatabase();
  });
  afterAll(() => running.end());

  it('an operator is still in the list when the line goes away whose button was pressed', async () => {
    for (const address of ['a@customer.test', 'b@customer.test']) {
      const place = `/api/suppressions/${encodeURIComponent(address)}`;
      const response = await running.service.request(place, { method: 'PUT', json: {} });
      expect(response.status).toBe(200);
    }
    const page = await pages.open(running.service.url, '/operate/suppressions');
    const row = page.locator('tr', { hasText: 'a@customer.test' });
    await row.getByRole('button', { name: 'Allow again' }).focus();
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Suppressed');
    // Tab goes on from there.
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).not.toBeNull();
  });

  it('an operator is still in the list after a dialog about a line that is gone', async () => {
    const response = await running.service.request('/api/keys', {
      json: { name: 'Jana', rights: ['read'], account_ids: null },
    });
    expect(response.status).toBe(200);
    const page = await pages.open(running.service.url, '/operate/keys');
    const row = page.locator('tr', { hasText: 'Jana' });
    await row.getByRole('button', { name: 'Revoke' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Go on' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await row.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).not.toBeNull();
  });
});
