/** New messages as people write them in the page: completed addresses, files, drafts, and sends that are undone. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, pressInNotice, usePages } from '../helpers/open-page.ts';
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
    await page.getByRole('option', { name: /gone@customer\.test.*Suppressed/ }).waitFor();
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
    await page
      .locator('input[aria-label="Attach files"]')
      .setInputFiles([OFFER, { ...OFFER, name: 'wrong.txt' }]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await expect
      .poll(() => page.getByRole('list', { name: 'Attached files' }).textContent())
      .toBe('offer.txt9 bytes');
    await page.getByText('9 bytes of 26.2 MB').waitFor();

    // As after a crash: it is among the drafts.
    await page.goto('/f/drafts');
    await page.locator('.row', { hasText: 'Our offer' }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message' }).innerText())
      .toBe('Please see the attached offer.');
    await pressInNotice(page, 'Undo');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await page.getByRole('button', { name: 'Remove offer.txt' }).waitFor();
    expect(running.sink.messages).toHaveLength(0);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Our better offer');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => running.sink.messages.length).toBe(1);
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
    await page.getByText('Attachments can total at most 26.2 MB.').waitFor();
    await drop('small.bin', 10);
    await page.getByRole('button', { name: 'Remove small.bin' }).waitFor();
    expect(await page.getByText('huge.bin').count()).toBe(0);
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
    // It is deleted when it can no longer be taken back.
    await expect
      .poll(async () => (await getJson<{ drafts: unknown[] }>(running.service, '/api/drafts')).drafts)
      .toEqual([]);
  });

  it('shows how far its files are, begins again after a cut, and waits for them when it is sent', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    const attach = (...names: string[]) =>
      page
        .locator('input[aria-label="Attach files"]')
        .setInputFiles(names.map((name) => ({ ...OFFER, name })));
    await page.getByRole('combobox', { name: 'To' }).fill('bob@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill('With files');
    await page.getByRole('textbox', { name: 'Message' }).fill('Files are attached.');

    await page.context().setOffline(true);
    await attach('cut.txt');
    await page.getByText('No connection. The upload continues automatically.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Remove cut.txt' }).waitFor();

    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/api/uploads?*', async (route) => {
      await gate;
      // Removing the file also removes the request.
      await route.continue().catch(() => undefined);
    });
    await attach('slow.txt', 'unwanted.txt', 'last.txt');
    await page.getByRole('progressbar', { name: 'slow.txt is being uploaded' }).waitFor();
    await page.getByRole('button', { name: 'Do not attach unwanted.txt' }).click();
    await page.getByRole('progressbar', { name: 'last.txt is being uploaded' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Message' }).press('Escape');
    await page.getByText('Files are still being attached.').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).press('Control+Enter');
    await page.getByText('It will be sent as soon as its files are attached.').waitFor();
    const before = running.sink.messages.length;
    goOn();
    await expect.poll(() => running.sink.messages.length).toBe(before + 1);
    const sent = await simpleParser(running.sink.messages[before]?.raw ?? '');
    expect(sent.attachments.map(({ filename }) => filename).toSorted()).toEqual([
      'cut.txt',
      'last.txt',
      'slow.txt',
    ]);
  });

  it('says which files were left behind, and which the service does not take', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.route('**/api/uploads?*', (route) =>
      route.fulfill({ status: 413, json: { error: 'Zu groß.', code: 'payload_too_large' } }),
    );
    await page.locator('input[aria-label="Attach files"]').setInputFiles([OFFER]);
    await page.getByText('Too large for the service.').waitFor();
    await page.getByRole('combobox', { name: 'To' }).fill('bob@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill('Not sent');
    await page.getByRole('textbox', { name: 'Message' }).fill('Not sent.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('A file could not be attached.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Drafts' }).click();
    await page.getByText('Not attached because you left the draft: offer.txt').waitFor();
    await page.locator('.row', { hasText: 'Not sent' }).click();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
  });

  it('is stored once there is a connection again when it was left without one', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Left offline');
    await page.getByRole('link', { name: 'Drafts' }).click();
    await page.getByRole('textbox', { name: 'Subject' }).waitFor({ state: 'detached' });
    await page.context().setOffline(false);
    await page.locator('.row', { hasText: 'Left offline' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Left offline');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
  });

  it('is written on a phone, in German and in the dark', async () => {
    const page = await pages.open(running.service.url, '/', TEST_SECRET, { ...PHONE, colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Menü' }).tap();
    await page.getByRole('button', { name: 'Neue Nachricht' }).tap();
    await page.getByRole('combobox', { name: 'An', exact: true }).pressSequentially('ann');
    await page.getByRole('option', { name: /ann@customer\.test/ }).tap();
    await page.getByRole('button', { name: 'Blindkopie' }).tap();
    await page.getByRole('combobox', { name: 'Blindkopie' }).fill('bob@customer.test');
    await page.locator('input[aria-label="Dateien anhängen"]').setInputFiles([OFFER]);
    await page.getByRole('button', { name: 'offer.txt entfernen' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    const saved = page.getByText('Entwurf gespeichert');
    await saved.waitFor();
    // Whole, and no button is pushed out.
    expect(await saved.evaluate((line) => line.scrollWidth <= line.clientWidth)).toBe(true);
    await page.getByRole('button', { name: 'Entwurf verwerfen' }).tap();
    await page.getByText('Entwurf verworfen').waitFor();
  });
});
