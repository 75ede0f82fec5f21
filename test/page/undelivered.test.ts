/** What was not delivered, in the page of a clerk: on top, in red, in plain words, with something to do about it. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { getJson, sendJson, startServiceWithSink, type SentResult } from '../helpers/running-service.ts';

const GERMAN = { viewport: { width: 1360, height: 860 }, locale: 'de-DE' } as const;

interface ThreadJson {
  readonly thread: { readonly status: string; readonly undelivered: number };
}

describe.skipIf(skipWithoutChromium())('an email that bounced', () => {
  let running: Awaited<ReturnType<typeof startServiceWithSink>>;
  let sent: SentResult;
  const pages = usePages();
  const threadOf = async () =>
    (await getJson<ThreadJson>(running.service, `/api/threads/${sent.threadId}`)).thread;

  beforeAll(async () => {
    running = await startServiceWithSink();
    sent = await sendJson(running.service, {
      to: 'Ann <anna@customer.test>',
      subject: 'Angebot 4711',
      html_body: '<p>Guten Tag, das <b>Angebot</b> gilt bis Mai.</p>',
    });
    await receive(running.service, deliveryReport(sent.messageId, [{ address: 'anna@customer.test' }]));
    await waitUntil('the bounce opens the thread', async () => (await threadOf()).undelivered === 1);
    // Later mail of customers stands below it.
    for (const subject of ['Rechnung', 'Termin'])
      await receive(running.service, mail({ subject, date: new Date(Date.now() + 60_000).toUTCString() }));
  });
  afterAll(() => running.end());

  const shot = async (page: Page, name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png` });
  };

  it.each(['light', 'dark'] as const)(
    'is the first of the open threads, in red, and says why in German, in %s colours',
    async (colorScheme) => {
      const page = await pages.open(running.service.url, '/f/open', undefined, { ...GERMAN, colorScheme });
      const first = page.locator('.row').first();
      await first.getByText('Zustellung prüfen').waitFor();
      expect(await first.textContent()).toContain('Angebot 4711');
      expect(await page.locator('.row', { hasText: 'Angebot 4711' }).count()).toBe(1);
      await first.click();
      await page
        .getByText('Nicht zugestellt: anna@customer.test. Diese Adresse gibt es nicht', { exact: false })
        .waitFor();
      // The report itself is folded.
      await page
        .getByRole('button', { name: /^E-Mail zeigen/ })
        .first()
        .waitFor();
      // Nothing of the protocol, and no warning of a stranger, who is the mail server.
      const shown = await page.locator('.conversation .marks').allTextContents();
      expect(shown.join(' ')).not.toMatch(/neu in diesem Vorgang|No such user|5\.1\.1|\d{4}-\d\d-\d\dT/);
      // The box to choose a line appears under the pointer.
      await page.mouse.move(700, 5);
      expect(await accessibilityFaults(page)).toEqual([]);
      await shot(page, `bounce-${colorScheme}`);
    },
  );

  it('is corrected and sent again, which deals with it', async () => {
    const page = await pages.open(running.service.url, `/t/${sent.threadId}`, undefined, GERMAN);
    await page.getByRole('button', { name: 'Korrigieren und noch einmal senden' }).click();
    const to = page.getByRole('combobox', { name: 'An' });
    await expect.poll(() => to.inputValue()).toBe('anna@customer.test');
    await shot(page, 'correct');
    await to.fill('ann@customer.test');
    await page.getByRole('button', { name: 'Senden', exact: true }).click();
    await expect.poll(threadOf, { timeout: 60_000 }).toMatchObject({ status: 'done', undelivered: 0 });
    await expect
      .poll(() => running.sink.messages.filter(({ rcptTo }) => rcptTo.includes('ann@customer.test')).length, {
        timeout: 60_000,
      })
      .toBe(1);
    const again = running.sink.messages.find(({ rcptTo }) => rcptTo.includes('ann@customer.test'));
    expect(again?.raw.toString()).toContain('<b>Angebot</b>');
  });

  it('is marked as settled', async () => {
    await receive(
      running.service,
      deliveryReport(sent.messageId, [{ address: 'anna@customer.test', status: '5.2.2' }]),
    );
    await expect.poll(threadOf).toMatchObject({ undelivered: 1 });
    const page = await pages.open(running.service.url, `/t/${sent.threadId}`, undefined, GERMAN);
    await page.getByRole('button', { name: 'Als geklärt markieren' }).click();
    await page.getByText('Als geklärt markiert', { exact: true }).waitFor();
    await expect.poll(threadOf).toMatchObject({ status: 'done', undelivered: 0 });
    await page.getByRole('button', { name: 'Als geklärt markieren' }).waitFor({ state: 'detached' });
  });
});
