/** Formatted messages: written, pasted, kept as drafts, made plain text, and sent in both forms. */
import { simpleParser } from 'mailparser';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

/** As a web page and an office program give it: what is hostile, what is heavy, and what is kept. */
const PASTED = `<meta charset="utf-8"><style>p { color: red }</style>
  <b style="font-weight:normal;" id="docs-internal-guid-1"><p class="x" style="position:fixed;color:red" onclick="top.hacked = 1">Red <b>bold</b>
  <span style="font-weight:700;font-style:italic">both</span>
  <a href="javascript:top.hacked = 1">bad</a> <a href="https://good.test/" onclick="top.hacked = 1">good</a></p></b>
  <script>top.hacked = 1</script><img src="https://tracker.invalid/x.png" onerror="top.hacked = 1">
  <table><tr><td>cell</td></tr></table><iframe srcdoc="<script>top.hacked = 1</script>"></iframe>`;

describe.skipIf(skipWithoutChromium())('a formatted message', () => {
  let running: RunningService & { readonly sink: SmtpSink };
  const pages = usePages();

  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  const messageIn = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const htmlIn = (page: Page) => messageIn(page).innerHTML();
  const draft = async (): Promise<{ text_body?: string; html_body?: string }> => {
    const { drafts } = await getJson<{ drafts: { id: string }[] }>(running.service, '/api/drafts');
    if (drafts[0] === undefined) return {};
    return (
      await getJson<{ message: { text_body?: string; html_body?: string } }>(
        running.service,
        `/api/drafts/${drafts[0].id}`,
      )
    ).message;
  };
  const discard = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
  };

  it('is written by keys and buttons, kept, opened again and sent as HTML and as text', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.getByRole('combobox', { name: 'To' }).fill('ann@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill('Both forms');
    const message = messageIn(page);
    await message.click();
    await page.keyboard.type('Hello ');
    await page.keyboard.press('Control+b');
    await page.keyboard.type('Ann');
    await page.getByRole('button', { name: 'Bold', pressed: true }).waitFor();
    await page.keyboard.press('Control+b');
    await page.keyboard.type(',');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('see ');
    await page.keyboard.press('Control+k');
    const address = page.getByRole('textbox', { name: 'Address of the link' });
    await address.fill('javascript:alert(1)');
    await address.press('Enter');
    await page.getByText('This is not a web or email address.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await address.fill('shop.test/new');
    await address.press('Enter');
    const expected =
      '<div>Hello <strong>Ann</strong>,</div><div><br></div><ul><li><div>one</div></li>' +
      '<li><div>see <a href="https://shop.test/new">shop.test/new</a></div></li></ul>';
    await expect.poll(draft).toMatchObject({
      html_body: expect.stringContaining(expected),
      text_body: expect.stringContaining('Hello Ann,\n\n- one\n- see shop.test/new'),
    });
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.goto('/f/drafts');
    await page.locator('.row', { hasText: 'Both forms' }).click();
    await message.getByText('Ann', { exact: true }).waitFor();
    expect(await message.locator('strong').innerText()).toBe('Ann');
    await message.press('Control+End');
    await page.keyboard.type('Bye');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => running.sink.messages.length).toBe(1);
    const sent = await simpleParser(running.sink.messages[0]?.raw ?? '');
    expect(sent.html).toContain(`${expected}<div>Bye</div>`);
    expect(sent.text?.trim()).toBe('Hello Ann,\n\n- one\n- see shop.test/new\nBye');
  });

  it('becomes plain text with what was written, and formatted again', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await messageIn(page).click();
    await page.keyboard.press('Control+i');
    await page.keyboard.type('Slanted');
    await page.getByRole('button', { name: 'Write as plain text' }).click();
    await expect.poll(() => messageIn(page).inputValue()).toBe('Slanted');
    expect(await page.getByRole('toolbar').count()).toBe(0);
    await page.getByRole('button', { name: 'Write with formatting' }).click();
    await expect.poll(() => htmlIn(page)).toContain('<em>Slanted</em>');
    await page.getByRole('button', { name: 'Write as plain text' }).click();
    await messageIn(page).fill('Slanted\n<no> more');
    await expect.poll(draft).toEqual(expect.objectContaining({ text_body: 'Slanted\n<no> more' }));
    expect(await draft()).not.toHaveProperty('html_body');
    expect(await accessibilityFaults(page)).toEqual([]);
    // The next message is written in the same form.
    await discard(page);
    await page.goto('/write/new');
    await messageIn(page).fill('plain');
    await expect.poll(() => messageIn(page).inputValue()).toBe('plain');
    await page.getByRole('button', { name: 'Write with formatting' }).click();
    await expect.poll(() => messageIn(page).innerText()).toBe('plain');
    await discard(page);
  });

  it('takes words, emphasis and safe links of what is pasted, and nothing else', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await messageIn(page).click();
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/html', ${JSON.stringify(PASTED).replaceAll('</script', '<\\/script')});
      clipboardData.setData('text/plain', 'Red bold');
      document.querySelector('.writer-rich').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
    await messageIn(page).getByText('cell').waitFor();
    await expect.poll(async () => (await draft()).html_body).toContain('cell');
    const { html_body: html = '' } = await draft();
    expect(html).toContain('Red <strong>bold</strong> <strong><em>both</em></strong>');
    expect(html).toContain('<a href="https://good.test/">good</a>');
    expect(html).toContain('bad');
    expect(html).not.toMatch(/javascript|style|class|onclick|onerror|script|img|table|iframe|color/);
    expect(await page.evaluate('top.hacked')).toBeUndefined();
    expect(requests.filter((url) => !url.startsWith(running.service.url))).toEqual([]);
    await discard(page);
  });
});
