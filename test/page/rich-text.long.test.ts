/** Formatted messages: written, pasted, kept as drafts, turned into plain text, and sent in both forms. */
import { simpleParser } from 'mailparser';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { CLIPBOARD } from '../helpers/clipboard-html.ts';
import { accessibilityFaults, pressInNotice, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

/** In the style of a web page and an office program: with hostile parts, bulky parts, and parts that are kept. */
const PASTED = `<meta charset="utf-8"><style>p { color: red }</style>
  <b style="font-weight:normal;" id="docs-internal-guid-1"><p class="x" style="position:fixed;color:red" onclick="top.hacked = 1">Red <b>bold</b>
  <span style="font-weight:700;font-style:italic">both</span>
  <a href="javascript:top.hacked = 1">bad</a> <a href="https://good.test/" onclick="top.hacked = 1">good</a></p></b>
  <script>top.hacked = 1</script><img src="https://tracker.invalid/x.png" onerror="top.hacked = 1">
  <table><tr><td>cell</td></tr></table><iframe srcdoc="<script>top.hacked = 1</script>"></iframe>`;

/** 32 pixels wide and high, so that it can be clicked. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAVElEQVR42mP4//8/AymAiYFEMKphVMOohlENoxpGNYxqGNUwqmFUw6iGUQ2jGkY1jGoY1TCqYVTDqIZRDaMaRjWMahjVMKphVMOohlENoxoAAN2yBD2Z3l8PAAAAAElFTkSuQmCC';
const PICTURE = { name: 'plan.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') };

/** An image within a text, as mail programs send it. */
const WITH_IMAGE = [
  'From: Ann <ann@customer.test>',
  'To: sales@example.com',
  'Subject: A picture',
  'Date: Sun, 01 Mar 2026 12:00:00 +0100',
  'Message-ID: <picture@customer.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/related; boundary=part',
  '',
  '--part',
  'Content-Type: text/html',
  '',
  '<p>Our roof:</p><img src="cid:roof@customer.test" alt="roof">',
  '--part',
  'Content-Type: image/png; name=roof.png',
  'Content-ID: <roof@customer.test>',
  'Content-Disposition: inline; filename=roof.png',
  'Content-Transfer-Encoding: base64',
  '',
  PNG,
  '--part--',
  '',
].join('\r\n');

describe.skipIf(skipWithoutChromium())('a formatted message', () => {
  let running: RunningService & { readonly sink: SmtpSink };
  const pages = usePages();

  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  const paste = (page: Page, html: string) =>
    page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/html', ${JSON.stringify(html).replaceAll('</script', '<\\/script')});
      clipboardData.setData('text/plain', 'Red bold');
      document.querySelector('.writer-rich').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
  /** The text as mail gets it, without what every table and line has. */
  const writtenIn = async (page: Page) =>
    (await htmlIn(page))
      .replaceAll(
        / (?:border|cellpadding|cellspacing|rel|draggable|contenteditable|data-content-id|src)="[^"]*"/g,
        '',
      )
      .replaceAll(/<br class="ProseMirror-trailingBreak">|<img class="ProseMirror-separator"[^>]*>/g, '')
      .replaceAll(/<\/?(?:tbody|div)>/g, '');
  const messageIn = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const htmlIn = (page: Page) => messageIn(page).innerHTML();
  interface Draft {
    readonly message: { readonly text_body?: string; readonly html_body?: string };
    readonly attachments: readonly unknown[];
  }
  const wholeDraft = async (): Promise<Draft> => {
    const { drafts } = await getJson<{ drafts: { id: string }[] }>(running.service, '/api/drafts');
    if (drafts[0] === undefined) return { message: {}, attachments: [] };
    return getJson<Draft>(running.service, `/api/drafts/${drafts[0].id}`);
  };
  const draft = async (): Promise<Draft['message']> => (await wholeDraft()).message;
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
    const address = page.getByRole('textbox', { name: 'Link address' });
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

  const imagesIn = (page: Page) => messageIn(page).locator('img.writer-image');
  const areShown = (page: Page) =>
    imagesIn(page).evaluateAll((images) =>
      images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
    );
  /** Pastes or drops an image, with HTML if given. */
  const give = (page: Page, kind: 'paste' | 'drop', html = '') =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      const html = ${JSON.stringify(html)};
      if (html !== '') data.setData('text/html', html);
      const bytes = Uint8Array.from(atob('${PNG}'), (char) => char.charCodeAt(0));
      if (html === '') data.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
      const text = document.querySelector('.writer-rich');
      const { left, top } = text.getBoundingClientRect();
      const common = { bubbles: true, cancelable: true };
      text.dispatchEvent('${kind}' === 'paste'
        ? new ClipboardEvent('paste', { clipboardData: data, ...common })
        : new DragEvent('drop', { dataTransfer: data, clientX: left + 30, clientY: top + 20, ...common }));
    })()`);

  it('has images that are shown at once, kept with the draft, and sent within the text', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.getByRole('combobox', { name: 'To' }).fill('ann@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill('Pictures');
    await messageIn(page).click();
    await page.keyboard.type('See ');
    await give(page, 'paste');
    await expect.poll(() => areShown(page)).toEqual([true]);
    await give(page, 'drop');
    await give(page, 'paste', `<p>and <img src="data:image/png;base64,${PNG}" onerror="top.hacked = 1"></p>`);
    await page.locator('input[aria-label="Insert images"]').setInputFiles([PICTURE]);
    await expect.poll(() => areShown(page)).toEqual([true, true, true, true]);
    expect(await accessibilityFaults(page)).toEqual([]);
    // The images are in the text, and not among the attached files.
    await expect.poll(() => page.getByRole('list', { name: 'Attached files' }).count()).toBe(0);
    await expect
      .poll(async () => {
        const { message, attachments } = await wholeDraft();
        return [
          message.html_body?.match(/<img alt="\w+" width="32" src="cid:[\w-]+">/g)?.length,
          attachments.length,
        ];
      })
      .toEqual([4, 4]);

    await page.goto('/f/drafts');
    await page.locator('.row', { hasText: 'Pictures' }).click();
    await expect.poll(() => areShown(page)).toEqual([true, true, true, true]);
    // An image that is removed from the text is not sent.
    await imagesIn(page).first().click();
    await messageIn(page).locator('.ProseMirror-selectednode').waitFor();
    await page.keyboard.press('Delete');
    await expect.poll(() => areShown(page)).toEqual([true, true, true]);
    const before = running.sink.messages.length;
    await pressInNotice(page, 'Undo');
    await messageIn(page).press('Control+Enter');
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await expect.poll(() => areShown(page)).toEqual([true, true, true]);
    await messageIn(page).press('Control+Enter');
    await expect.poll(() => running.sink.messages.length).toBe(before + 1);
    const raw = running.sink.messages[before]?.raw.toString() ?? '';
    expect(raw).toContain('multipart/related');
    const sent = await simpleParser(raw, { keepCidLinks: true });
    expect(sent.attachments).toHaveLength(3);
    for (const { related, contentId = '', content } of sent.attachments) {
      expect([related, content.toString('base64')]).toEqual([true, PNG]);
      expect(contentId).toMatch(/^<written-[\w-]+>$/);
      expect(sent.html).toContain(`src="cid:${contentId.slice(1, -1)}"`);
    }
    expect(sent.html).not.toContain('data-');
    expect(sent.text).toMatch(/\[(?:Image|plan)\]/);
    expect(await page.evaluate('top.hacked')).toBeUndefined();
  });

  it('answers an email with images: its own goes along with those that the quote shows', async () => {
    const { threadId } = await receive(running.service, WITH_IMAGE);
    const page = await pages.open(running.service.url, `/f/open/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await messageIn(page).click();
    await page.keyboard.type('Ours:');
    await give(page, 'paste');
    await expect.poll(() => areShown(page)).toEqual([true]);
    const before = running.sink.messages.length;
    await messageIn(page).press('Control+Enter');
    await expect.poll(() => running.sink.messages.length).toBe(before + 1);
    const sent = await simpleParser(running.sink.messages[before]?.raw ?? '', { keepCidLinks: true });
    expect(sent.attachments.map(({ related }) => related)).toEqual([true, true]);
    for (const { contentId = '' } of sent.attachments)
      expect(sent.html).toContain(`cid:${contentId.slice(1, -1)}`);
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
    // The next message starts in the same form.
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
    await paste(page, PASTED);
    await messageIn(page).getByText('cell').waitFor();
    await expect.poll(async () => (await draft()).html_body).toContain('cell');
    const { html_body: html = '' } = await draft();
    expect(html).toContain('Red <strong>bold</strong> <strong><em>both</em></strong>');
    expect(html).toContain('<a href="https://good.test/">good</a>');
    expect(html).toContain('bad');
    expect(html).not.toMatch(/javascript|style|class|onclick|onerror|script|img|table|iframe|color/);
    expect(await page.evaluate('top.hacked')).toBeUndefined();
    expect(requests.filter((url) => !url.startsWith(running.service.url))).toEqual([]);
    await page.getByText('One image was not inserted').waitFor();
    await discard(page);
  });

  it('keeps tables, lists and images of office programs, mail programs and web pages', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await messageIn(page).click();
    for (const [program, { html, shows }] of Object.entries(CLIPBOARD)) {
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('Delete');
      await paste(page, html);
      await expect.poll(async () => [program, await writtenIn(page)]).toEqual([program, shows]);
    }
    await discard(page);
  });

  it('sends a pasted table as a table, in columns as plain text, with what was typed in its cells', async () => {
    const page = await pages.open(running.service.url, '/write/new');
    await page.getByRole('combobox', { name: 'To' }).fill('ann@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill('Prices');
    await messageIn(page).click();
    await paste(page, CLIPBOARD.excel.html);
    await messageIn(page).getByText('Menge').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' Stück');
    await page.keyboard.press('Tab');
    await page.keyboard.type('2');
    await expect.poll(async () => (await draft()).text_body).toContain('Pos | Menge Stück\n2   | 18');
    // The draft holds the table, in this window and in the next.
    const { drafts } = await getJson<{ drafts: { id: string }[] }>(running.service, '/api/drafts');
    await page.goto(`/write/${drafts[0]?.id ?? ''}`);
    await messageIn(page).getByText('Menge Stück').click();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('menuitem', { name: 'Insert row below' }).click();
    await page.locator('.writer-rich:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('new');
    expect(await accessibilityFaults(page)).toEqual([]);
    const before = running.sink.messages.length;
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => running.sink.messages.length).toBe(before + 1);
    const { html, text } = await simpleParser(running.sink.messages.at(-1)?.raw ?? '');
    expect(html).toContain(
      '<table style="border-collapse:collapse" border="1" cellpadding="4" cellspacing="0">',
    );
    expect(html).toContain('<td><div>2</div></td><td><div>18</div></td>');
    expect(text).toContain('Pos | Menge Stück\n');
    expect(text).toContain('\n2   | 18');
    await page.goto('/write/new');
    await messageIn(page).click();
    await paste(page, CLIPBOARD.excel.html);
    await messageIn(page).getByText('Menge').click();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('menuitem', { name: 'Delete table' }).click();
    await expect.poll(() => htmlIn(page)).not.toContain('table');
    await discard(page);
  });
});
