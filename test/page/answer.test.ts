/** Answers and forwards as people write them in the page: keys typed while the writer loads, the quote, and the attached files. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

const ENGLISH = {
  viewport: { width: 1280, height: 860 },
  locale: 'en-US',
  timezoneId: 'America/New_York',
} as const;

describe.skipIf(skipWithoutChromium())('an answer', () => {
  const pages = usePages();
  let running: RunningService & { readonly sink: SmtpSink };
  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  const open = (place: string) => pages.open(running.service.url, place, TEST_SECRET, ENGLISH);

  const withFile = (subject: string) =>
    receive(
      running.service,
      mail({
        subject,
        date: 'Sun, 01 Mar 2026 20:30:00 +0000',
        from: 'Ann Example <ann@customer.test>',
        headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
        body: [
          '--b',
          'Content-Type: text/plain; charset=utf-8',
          '',
          'How much is it?',
          '--b',
          'Content-Type: text/plain',
          'Content-Disposition: attachment; filename="plan.txt"',
          '',
          'two rooms',
          '--b--',
        ].join('\r\n'),
      }),
    );

  const lastSent = async (count: number) => {
    await expect.poll(() => running.sink.messages.length).toBe(count);
    const [message] = running.sink.messages.slice(-1);
    return { rcptTo: message?.rcptTo, ...(await simpleParser(message?.raw ?? '')) };
  };

  it('gets what is typed while its writer loads, and no shortcut acts on it', async () => {
    const { threadId } = await withFile('Typed ahead');
    await withFile('Another one');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('heading', { name: 'Typed ahead' }).waitFor();
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route(/\/api\/(?:accounts|emails\/[^/]+\/reply)/, async (route) => {
      await gate;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Forward', exact: true }).waitFor();
    await page.keyboard.press('f');
    // Each letter is also a shortcut.
    await page.keyboard.type('jake');
    goOn();
    const to = page.getByRole('combobox', { name: 'To' });
    await expect.poll(() => to.inputValue()).toBe('jake');
    await page.keyboard.type('@people.test');
    expect(await to.inputValue()).toBe('jake@people.test');
    await page.getByRole('heading', { name: 'Typed ahead' }).waitFor();
    const { thread } = await getJson<{ thread: { status: string } }>(
      running.service,
      `/api/threads/${threadId}`,
    );
    expect(thread.status).toBe('open');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
    // No field has the focus now.
    await page.keyboard.press('c');
    await page.keyboard.type('ekj');
    await expect.poll(() => to.inputValue()).toBe('ekj');
    await page.getByRole('heading', { name: 'New message' }).waitFor();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await expect
      .poll(async () => (await getJson<{ drafts: unknown[] }>(running.service, '/api/drafts')).drafts)
      .toEqual([]);
  });

  it('quotes in the language and the time zone of its writer, and is listed by whom it is for', async () => {
    const before = running.sink.messages.length;
    const { threadId } = await withFile('Quoted in English');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Ten euros.');
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Show quoted text' }).click();
    const quote = page.getByRole('region', { name: 'Quoted text' });
    expect(await quote.innerText()).toMatch(/Ann Example.* wrote:\s+> How much is it\?/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto('/f/drafts');
    const row = page.locator('.row', { hasText: 'Re: Quoted in English' });
    await row.getByText('To: Ann Example').waitFor();
    await page.getByRole('link', { name: /^Drafts\s*1/ }).waitFor();
    await row.click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const sent = await lastSent(before + 1);
    expect(sent.text).toContain('Ten euros.');
    // 20:30 UTC.
    expect(sent.text).toMatch(/15:30|3:30\sPM/);
    expect(sent.text).toContain('wrote:');
    expect(sent.text).toContain('> How much is it?');
  });

  it('leaves out what it quotes when its writer says so', async () => {
    const before = running.sink.messages.length;
    const { threadId } = await withFile('Without a quote');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Just this.');
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('checkbox', { name: 'Quote the original email' }).uncheck();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const sent = await lastSent(before + 1);
    expect(sent.text?.trim()).toBe('Just this.');
  });

  it('that forwards lists the files that go along, and leaves them out when its writer says so', async () => {
    const before = running.sink.messages.length;
    const { threadId } = await withFile('Passed on');
    const page = await open(`/t/${threadId}`);
    const forward = async () => {
      await page.getByRole('button', { name: 'Forward', exact: true }).click();
      await expect.poll(() => page.evaluate('document.activeElement?.labels?.[0]?.textContent')).toBe('To');
      await page.keyboard.type('bob@people.test');
    };
    await forward();
    const files = page.getByRole('list', { name: 'Attachments of the original email' });
    expect(await files.innerText()).toMatch(/^\s*plan\.txt\s+9 bytes\s*$/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const whole = await lastSent(before + 1);
    expect(whole.rcptTo).toEqual(['bob@people.test']);
    expect(whole.attachments.map(({ filename }) => filename)).toEqual(['plan.txt']);

    await page.getByRole('button', { name: 'Forward', exact: true }).waitFor();
    await forward();
    await page.getByRole('checkbox', { name: 'Include its attachments' }).uncheck();
    await expect
      .poll(async () => {
        const { drafts } = await getJson<{ drafts: { answers: object }[] }>(running.service, '/api/drafts');
        return drafts[0]?.answers;
      })
      .toMatchObject({ with_files: false });
    // As after a crash: the draft remembers the choice.
    await page.goto(`/t/${threadId}`);
    const box = page.getByRole('checkbox', { name: 'Include its attachments' });
    await box.waitFor();
    expect(await box.isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const bare = await lastSent(before + 2);
    expect(bare.attachments).toEqual([]);
    expect(bare.text).toContain('How much is it?');
  });
});
