/** An invitation in the page of a clerk: what, when and where, and an answer by one button. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { invitationMail } from '../helpers/invitation-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;
const DESKTOP = { viewport: { width: 1360, height: 860 } } as const;
const GERMAN = { locale: 'de-DE', timezoneId: 'Europe/Lisbon' } as const;

describe.skipIf(skipWithoutChromium())('an invitation', () => {
  let running: Awaited<ReturnType<typeof startServiceWithSink>>;
  const pages = usePages();
  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  const shot = async (page: Page, name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png` });
  };
  const invite = (fields: Parameters<typeof invitationMail>[0] = {}) =>
    receive(running.service, invitationMail(fields));
  /** On a phone a thread stands alone, so the log-in ends at the list. */
  const openThread = async (threadId: string, options: object): Promise<Page> => {
    const page = await pages.open(running.service.url, '/f/open', undefined, { ...GERMAN, ...options });
    await page.goto(`${running.service.url}/t/${threadId}`);
    return page;
  };

  it('is shown in the time of the clerk and of the invitation, and answered by a button', async () => {
    const { threadId } = await invite({ text: 'Bitte kommen.', lines: ['RRULE:FREQ=WEEKLY'] });
    const page = await openThread(threadId, { ...DESKTOP, colorScheme: 'light' });
    const card = page.locator('.invitation');
    await card.getByText('Abnahme Zugspitzplatt').waitFor();
    const facts = (await card.textContent()) ?? '';
    expect(facts).toMatch(/Dienstag, 12\. Mai 2026.{1,4}09:00–10:00/);
    expect(facts).toMatch(/in der Einladung Dienstag, 12\. Mai 2026.{1,4}10:00–11:00 Uhr \(Europe\/Berlin\)/);
    expect(facts).toContain('wöchentlich');
    expect(facts).toContain('Gletscherrampe');
    expect(await accessibilityFaults(page)).toEqual([]);
    await shot(page, 'invitation-light');
    await card.getByRole('textbox', { name: 'Nachricht an den Organisator' }).fill('Ich komme etwas später.');
    await card.getByRole('button', { name: 'Vorläufig' }).click();
    await waitUntil('the answer is sent', async () => running.sink.messages.length === 1);
    expect(parseMessage(running.sink.messages[0]?.raw ?? Buffer.alloc(0)).invitation).toMatchObject({
      method: 'reply',
      comment: 'Ich komme etwas später.',
      attendees: [{ address: 'sales@example.com', status: 'tentative' }],
    });
    await card.getByText('Unter Vorbehalt zugesagt am').waitFor();
    // The answer itself has no card.
    await page.locator('.message[data-direction=outbound]').waitFor();
    expect(await page.locator('.invitation').count()).toBe(1);
    await shot(page, 'invitation-answered');
  });

  it('that another person answers shows the answer', async () => {
    const { threadId } = await invite({
      method: 'REPLY',
      organizer: 'sales@example.com',
      attendee: 'ada@customer.test',
    });
    const page = await openThread(threadId, { ...DESKTOP, colorScheme: 'light' });
    await page.getByText('Antwort auf eine Einladung: noch keine Antwort').waitFor();
    expect(await page.getByRole('button', { name: 'Zusagen' }).count()).toBe(0);
    await shot(page, 'invitation-reply');
  });

  it('that does not name the address of the account has no buttons, and says why', async () => {
    const { threadId } = await invite({ attendee: 'bob@customer.test' });
    const page = await openThread(threadId, { ...DESKTOP, colorScheme: 'light' });
    await page.getByText('Die Adresse dieses Kontos steht nicht unter den Eingeladenen.').waitFor();
    expect(await page.getByRole('button', { name: 'Zusagen' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await shot(page, 'invitation-of-others');
  });

  it('warns before an answer goes to another person than the sender', async () => {
    const { threadId } = await invite({ organizer: 'eve@other.test' });
    const page = await openThread(threadId, { ...PHONE, colorScheme: 'dark' });
    const card = page.locator('.invitation');
    await card.getByText('Ihre Antwort geht an Ada <eve@other.test>').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await shot(page, 'invitation-phone-dark');
    await card.getByRole('button', { name: 'Zusagen' }).click();
    await card.getByText('Zugesagt am').waitFor();
    expect(running.sink.messages.at(-1)?.rcptTo).toEqual(['eve@other.test']);
  });

  it('that was changed and cancelled has no buttons, and says so', async () => {
    const uid = randomUUID();
    const first = await invite({ uid });
    const cancelled = await invite({ uid, sequence: 1, method: 'CANCEL' });
    const page = await openThread(first.threadId, { ...DESKTOP, colorScheme: 'dark' });
    await page.locator('.invitation').getByText('Durch eine neuere E-Mail abgesagt.').waitFor();
    expect(await page.getByRole('button', { name: 'Zusagen' }).count()).toBe(0);
    await shot(page, 'invitation-replaced-dark');
    const other = await openThread(cancelled.threadId, { ...PHONE, colorScheme: 'light' });
    await other.locator('.invitation-kind', { hasText: 'Abgesagt' }).waitFor();
    await shot(other, 'invitation-cancelled-phone');
  });
});
