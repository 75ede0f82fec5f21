/** New messages as people write them in the page: completed addresses, files, drafts, and sends that are taken back. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: 'de-DE' };
const OFFER = { name: 'offer.txt', mimeType: 'text/plain', buffer: Buffer.from('ten euros') };

describe.skipIf(skipWithoutChromium())('writing a message', () => {
  let running: RunningService & { readonly sink: SmtpSink };
  const pages = usePages();

  beforeAll(async () => {
    running = await startServiceWithSink();
    const date = new Date().toUTCString().replace('GMT', '+0000');
    await receive(running.service, mail({ subject: 'Hello', date, from: 'Ann Example <ann@customer.test>' }));
    await receive(
      running.service,
      mail({ subject: 'Gone', date, from: 'Gone Example <gone@customer.test>' }),
    );
    await running.service.request('/api/suppressions/gone%40customer.test', {
      method: 'PUT',
      json: {},
    });
    await waitUntil('both addresses are known', async () => {
      const { addresses } = await getJson<{ addresses: unknown[] }>(
        running.service,
        '/api/addresses?q=@customer',
      );
      return addresses.length === 2;
    });
  });
  afterAll(() => running.end());

  it('sends a new message with a completed address and files, after it was taken back once', async () => {
    const page = await pages.open(running.service.url, '/');
    await page.keyboard.press('c');
    const to = page.getByRole('combobox', { name: 'To' });
    await to.pressSequentially('gone');
    await page.getByRole('option', { name: /gone@customer\.test.*Takes no mail/ }).waitFor();
    await to.fill('');
    await to.pressSequentially('ann');
    await page.getByRole('option', { name: /ann@customer\.test/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await to.press('Enter');
    expect(await to.inputValue()).toBe('Ann Example <ann@customer.test>, ');
    expect(await page.getByRole('option').count()).toBe(0);

    await page.getByRole('textbox', { name: 'Subject' }).fill('Our offer');
    await page.getByRole('textbox', { name: 'Message' }).fill('Please see the attached offer.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('You mention an attachment').waitFor();
    await page.locator('input[type=file]').setInputFiles([OFFER, { ...OFFER, name: 'wrong.txt' }]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await expect
      .poll(() => page.getByRole('list', { name: 'Attached files' }).innerText())
      .toMatch(/^\s*offer\.txt\s+9 byte\s*$/);

    // As after a crash: it is among the drafts.
    await page.goto('/f/drafts');
    await page.locator('.row', { hasText: 'Our offer' }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message' }).innerText())
      .toBe('Please see the attached offer.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await page.getByRole('button', { name: 'Remove offer.txt' }).waitFor();
    expect(running.sink.messages).toHaveLength(0);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Our better offer');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => running.sink.messages.length, { timeout: 60_000 }).toBe(1);
    const [message] = running.sink.messages;
    expect(message?.rcptTo).toEqual(['ann@customer.test']);
    const parsed = await simpleParser(message?.raw ?? '');
    expect(parsed.subject).toBe('Our better offer');
    expect(parsed.text?.trim()).toBe('Please see the attached offer.');
    expect(parsed.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ['offer.txt', 'ten euros'],
    ]);
    const { drafts } = await getJson<{ drafts: unknown[] }>(running.service, '/api/drafts');
    expect(drafts).toEqual([]);
  });

  it('takes files that are dropped, and refuses too large ones in words', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.getByRole('combobox', { name: 'To' }).fill('bob@customer.test');
    const drop = (name: string, bytes: number) =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([new Uint8Array(${bytes})], '${name}'));
        document.querySelector('.writer').dispatchEvent(
          new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      })()`);
    await drop('huge.bin', 25 * 1024 * 1024 + 1);
    await page.getByText('all files together may have').waitFor();
    await drop('small.bin', 10);
    await page.getByRole('button', { name: 'Remove small.bin' }).waitFor();
    expect(await page.getByText('huge.bin').count()).toBe(0);
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
    expect((await getJson<{ drafts: unknown[] }>(running.service, '/api/drafts')).drafts).toEqual([]);
  });

  it('is written on a phone, in German and in the dark', async () => {
    const page = await pages.open(running.service.url, '/', TEST_SECRET, { ...PHONE, colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Menü' }).tap();
    await page.getByRole('button', { name: 'Neue Nachricht' }).tap();
    await page.getByRole('combobox', { name: 'An', exact: true }).pressSequentially('ann');
    await page.getByRole('option', { name: /ann@customer\.test/ }).tap();
    await page.getByRole('button', { name: 'Blindkopie' }).tap();
    await page.getByRole('combobox', { name: 'Blindkopie' }).fill('bob@customer.test');
    await page.locator('input[type=file]').setInputFiles([OFFER]);
    await page.getByRole('button', { name: 'offer.txt entfernen' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Entwurf verwerfen' }).tap();
    await page.getByText('Entwurf verworfen').waitFor();
  });
});
