/** Who an email goes out as, and what stands below its text, as a clerk sees and chooses it before it is sent. */
import { mkdirSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

const DESKTOP = { viewport: { width: 1280, height: 860 }, locale: 'en-GB' } as const;
const PHONE = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  locale: 'de-DE',
} as const;

const OFFERS = {
  address: 'offers@firm.test',
  name: 'Offers',
  signature_text: 'Offers team\n{{ author.name }}',
  signature_html:
    String.raw`<p style="color: #2456c8; --a: u\72l(https://firm.test/a.png); background: var(--a)" onclick="x()">` +
    '<b>Offers team</b><br>{{ author.name }}</p>' +
    '<img src="https://firm.test/logo.png" alt="Logo"><script>x()</script>',
};
const ADDRESSES = [
  OFFERS,
  { address: 'info+*@firm.test', name: 'Orders' },
  { address: '*@shop.test', name: 'Shop' },
];
/** A picture of 1 × 120 pixels. */
const TALL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAB4CAAAAAAWU8dcAAAADUlEQVR42mNoYBhREAAilDwBnhH9cQAAAABJRU5ErkJggg==';
const FOOTER = 'Firm GmbH, Berlin, HRB 4711';

interface AccountJson {
  readonly version: number;
}
interface DraftJson {
  readonly message: { readonly from?: string; readonly signature?: boolean; readonly text_body?: string };
}

describe.skipIf(skipWithoutChromium())('the sender of an email', () => {
  const pages = usePages();
  let running: RunningService & { readonly sink: SmtpSink };
  /** The secrets of keys that may write: for all accounts, and for one that has a single address. */
  let clerk: string;
  let limited: string;

  beforeAll(async () => {
    running = await startServiceWithSink();
    const { request } = running.service;
    const made = await request('/api/accounts', {
      json: {
        id: 'firm',
        from: 'Firm <info@firm.test>',
        smtp_url: running.sink.url,
        signature_text: '{{ author.name }}\n{{ account.name }}, {{ account.address }}',
        footer_text: FOOTER,
      },
    });
    if (made.status !== 201) throw new Error(await made.text());
    const makeKey = async (name: string, account_ids: string | readonly string[]): Promise<string> => {
      const json = { name, rights: ['read', 'draft', 'send', 'handle'], account_ids };
      const response = await request('/api/keys', { json });
      return ((await response.json()) as { secret: string }).secret;
    };
    clerk = await makeKey('Ada & Co', '*');
    limited = await makeKey('Ben', ['default']);
  });
  afterAll(() => running.end());
  beforeEach(() => setAddresses(ADDRESSES));

  const setAddresses = async (addresses: readonly object[]): Promise<void> => {
    const { version } = await getJson<AccountJson>(running.service, '/api/accounts/firm');
    const response = await running.service.request('/api/accounts/firm', {
      method: 'PATCH',
      headers: { 'If-Match': `"${version}"` },
      json: { addresses },
    });
    expect(response.status).toBe(200);
  };
  const open = (place: string, options: BrowserContextOptions = DESKTOP): Promise<Page> =>
    pages.open(running.service.url, place, clerk, options);
  const writtenTo = (to: string, subject: string) =>
    receive(
      running.service,
      mail({
        to,
        subject,
        from: 'Ann <ann@customer.test>',
        date: new Date().toUTCString(),
        body: 'How much?',
      }),
      '?account_id=firm',
    );
  const sender = (page: Page) => page.getByRole('button', { name: /^From / });
  const choose = async (page: Page, name: RegExp): Promise<void> => {
    await sender(page).click();
    await page.getByRole('menuitemradio', { name }).click();
  };
  const signature = (page: Page) => page.getByRole('region', { name: 'Signature as it will be sent' });
  const footer = (page: Page) => page.getByRole('region', { name: 'Company footer as it will be sent' });
  const focused = (page: Page) => page.evaluate<string>("document.activeElement.ariaLabel ?? ''");
  const messageIn = (page: Page) => page.getByRole('textbox', { name: 'Message' });
  const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();
  const write = async (page: Page, subject: string, text = 'Ten euros.'): Promise<void> => {
    await page.getByRole('combobox', { name: 'To', exact: true }).fill('ann@customer.test');
    await page.getByRole('textbox', { name: 'Subject' }).fill(subject);
    await messageIn(page).fill(text);
  };
  const sent = async (subject: string) => {
    const found = () => running.sink.messages.filter(({ raw }) => raw.includes(`Subject: ${subject}\r\n`));
    await expect.poll(() => found().length).toBe(1);
    const [message] = found();
    const parsed = await simpleParser(message?.raw ?? '');
    return {
      from: parsed.from?.text.replaceAll('"', ''),
      mailFrom: message?.mailFrom,
      text: parsed.text ?? '',
      html: String(parsed.html),
    };
  };
  const times = (text: string, part: string): number => text.split(part).length - 1;
  const draftWith = async (text: string): Promise<DraftJson['message'] | null> => {
    const { drafts } = await getJson<{ drafts: { id: string }[] }>(running.service, '/api/drafts');
    for (const { id } of drafts) {
      const { message } = await getJson<DraftJson>(running.service, `/api/drafts/${id}`);
      if (message.text_body === text) return message;
    }
    return null;
  };
  const shot = async (page: Page, name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png` });
  };

  it('of a new message is chosen, and the email has its signature and the footer once', async () => {
    const page = await open('/write/new');
    await write(page, 'Chosen');
    await sender(page).getByText('sales@example.com').waitFor();
    expect(await signature(page).count()).toBe(0);
    await choose(page, /info@firm\.test/);
    await signature(page).getByText('Firm, info@firm.test').waitFor();
    await footer(page).getByText(FOOTER).waitFor();
    await choose(page, /offers@firm\.test/);
    const preview = signature(page).frameLocator('iframe');
    await preview.getByText('Ada & Co').waitFor();
    await preview.getByText('Logo').waitFor();
    expect(await preview.locator('script, img, [onclick], a[href]').count()).toBe(0);
    // The page's policy refuses styles in HTML; the frame has them all the same.
    const colour =
      "getComputedStyle(document.querySelector('.html-preview').contentDocument.querySelector('p')).color";
    expect(await page.evaluate(colour)).toBe('rgb(36, 86, 200)');
    expect(await messageIn(page).innerText()).not.toContain('Ada & Co');
    expect(await accessibilityFaults(page)).toEqual([]);
    await send(page);
    const { from, mailFrom, text, html } = await sent('Chosen');
    expect([from, mailFrom]).toEqual(['Offers <offers@firm.test>', 'offers@firm.test']);
    expect(text).toMatch(/^Ten euros\.\n\n-- \nOffers team\nAda & Co\n\nFirm GmbH, Berlin, HRB 4711\s*$/);
    expect([times(html, 'Offers team'), times(html, 'Ada &amp; Co'), times(html, 'HRB 4711')]).toEqual([
      1, 1, 1,
    ]);
  });

  it('may be any address of a pattern, of which the free part is typed', async () => {
    const page = await open('/write/new');
    await write(page, 'Typed');
    await choose(page, /Any address …@shop\.test/);
    const free = page.getByRole('textbox', { name: 'The part of …@shop.test to fill in' });
    await expect.poll(() => focused(page)).toContain('@shop.test');
    await send(page);
    await page.getByRole('alert').getByText('Complete the sender’s address.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await free.fill('depot');
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await expect.poll(async () => (await draftWith('Ten euros.'))?.from).toBe('depot@shop.test');
    await page.reload();
    await page.goto('/f/drafts');
    await page.locator('.row', { hasText: 'Typed' }).click();
    await expect.poll(() => free.inputValue()).toBe('depot');
    await signature(page).getByText('Shop, depot@shop.test').waitFor();
    await choose(page, /Any address info\+…@firm\.test/);
    await page.getByRole('textbox', { name: 'The part of info+…@firm.test to fill in' }).fill('4711');
    await send(page);
    expect((await sent('Typed')).from).toBe('Orders <info+4711@firm.test>');
  });

  it('of an answer is the address that was written to, unless another one is chosen', async () => {
    const { threadId } = await writtenTo('offers@firm.test', 'Two questions');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await sender(page).getByText('offers@firm.test').waitFor();
    await signature(page).frameLocator('iframe').getByText('Offers team').waitFor();
    await messageIn(page).fill('The first answer.');
    await sender(page).click();
    await page
      .getByRole('menuitemradio', { name: /offers@firm\.test/ })
      .getByText('The email was written to this address')
      .waitFor();
    // The answered email decides the account.
    expect(await page.getByRole('menuitemradio', { name: /sales@example\.com/ }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await send(page);
    const { from, text } = await sent('Re: Two questions');
    expect(from).toBe('Offers <offers@firm.test>');
    expect(text).toMatch(
      /^The first answer\.\n\n-- \nOffers team\nAda & Co\n\n.*HRB 4711\n\n[^]*> How much\?/,
    );
  });

  it('and the choice of the signature are kept in the draft, on every device', async () => {
    const { threadId } = await writtenTo('offers@firm.test', 'Kept');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await messageIn(page).fill('Without a signature.');
    await choose(page, /^Firm info@firm\.test/);
    await page.getByRole('checkbox', { name: 'Signature' }).uncheck();
    await expect.poll(() => signature(page).count()).toBe(0);
    await expect
      .poll(() => draftWith('Without a signature.'))
      .toMatchObject({ from: 'info@firm.test', signature: false });
    const other = await open(`/t/${threadId}`);
    await sender(other).getByText('info@firm.test').waitFor();
    await footer(other).getByText(FOOTER).waitFor();
    await expect.poll(() => other.getByRole('checkbox', { name: 'Signature' }).isChecked()).toBe(false);
    await send(other);
    const { from, text } = await sent('Re: Kept');
    expect(from).toBe('Firm <info@firm.test>');
    expect(text).toMatch(/^Without a signature\.\n\n-- \nFirm GmbH, Berlin, HRB 4711\n/);
    expect(text).not.toContain('Ada');
  });

  it('that was removed meanwhile is named at its field, and the text stays', async () => {
    const page = await open('/write/new');
    await write(page, 'Refused', 'A long text.');
    await choose(page, /offers@firm\.test/);
    await expect.poll(async () => (await draftWith('A long text.'))?.from).toBe('offers@firm.test');
    await setAddresses([]);
    await send(page);
    const alert = page.getByRole('alert');
    await alert.getByText('offers@firm.test can no longer be used as a sender.').waitFor();
    expect(await messageIn(page).innerText()).toBe('A long text.');
    expect(await accessibilityFaults(page)).toEqual([]);
    // What is written goes on being stored.
    await messageIn(page).fill('A longer text.');
    await expect.poll(async () => (await draftWith('A longer text.')) !== null).toBe(true);
    await choose(page, /info@firm\.test/);
    await expect.poll(() => alert.count()).toBe(0);
    await send(page);
    expect((await sent('Refused')).from).toBe('Firm <info@firm.test>');
  });

  it('that was removed before the first save does not keep the text from being stored', async () => {
    const page = await open('/write/new');
    await sender(page).click();
    await page.getByRole('menuitemradio', { name: /offers@firm\.test/ }).waitFor();
    await setAddresses([]);
    await page.getByRole('menuitemradio', { name: /offers@firm\.test/ }).click();
    await write(page, 'Never saved', 'The whole text.');
    await page.getByRole('alert').getByText('offers@firm.test can no longer be used').waitFor();
    await expect.poll(async () => (await draftWith('The whole text.')) !== null).toBe(true);
    await page.getByText('Draft saved').waitFor();
  });

  it('of a corrected email is the same, and neither signature nor footer are there twice', async () => {
    const { service } = running;
    const failed = await service.request('/api/send', {
      headers: { authorization: `Bearer ${clerk}` },
      json: {
        to: 'ann@refused.test',
        subject: 'Corrected',
        text_body: 'Hello Ann.',
        html_body: '<div>Hello Ann.</div>',
        from: 'offers@firm.test',
        signature: true,
      },
    });
    expect(failed.status).toBe(500);
    const { id } = (await failed.json()) as { id: string };
    const { thread_id: threadId } = await getJson<{ thread_id: string }>(service, `/api/emails/${id}`);
    const page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Correct and send again' }).click();
    await expect.poll(() => messageIn(page).innerText()).toBe('Hello Ann.');
    await sender(page).getByText('offers@firm.test').waitFor();
    await signature(page).frameLocator('iframe').getByText('Offers team').waitFor();
    await page.getByRole('combobox', { name: 'To', exact: true }).fill('ann@customer.test');
    await send(page);
    const { from, text, html } = await sent('Corrected');
    expect(from).toBe('Offers <offers@firm.test>');
    for (const part of ['Offers team', 'HRB 4711'])
      expect([times(text, part), times(html, part)]).toEqual([1, 1]);
  });

  it('is shown with the pictures of its signature', async () => {
    await setAddresses([
      { ...OFFERS, signature_html: `<p>Team</p><img src="data:image/png;base64,${TALL}" alt="">` },
    ]);
    const page = await open('/write/new');
    await choose(page, /offers@firm\.test/);
    const frame = page.locator('.html-preview');
    await expect.poll(async () => (await frame.boundingBox())?.height ?? 0).toBeGreaterThan(120);
  });

  it.each([
    ['has the name that the program gave', /^Sales bot/, null],
    ['has that of another sender once that is chosen', /^Offers/, /offers@firm\.test/],
  ])('of a program’s draft %s', async (_title, shownAs, other) => {
    const subject = other === null ? 'Of a program' : 'Of a program, changed';
    const { request } = running.service;
    const draft = await request('/api/drafts', {
      headers: { authorization: `Bearer ${clerk}` },
      json: {
        author: 'Ada & Co',
        message: {
          account_id: 'firm',
          to: 'ann@customer.test',
          subject,
          text_body: 'Ten euros.',
          from_name: 'Sales bot',
        },
      },
    });
    const { id } = (await draft.json()) as { id: string };
    const page = await open(`/write/${id}`);
    await sender(page).getByText('Sales bot').waitFor();
    if (other !== null) await choose(page, other);
    await expect.poll(() => sender(page).innerText()).toMatch(shownAs);
    await send(page);
    expect((await sent(subject)).from).toMatch(shownAs);
  });

  it('is only shown where there is one', async () => {
    const page = await pages.open(running.service.url, '/write/new', limited, DESKTOP);
    await page.locator('.sender-only', { hasText: 'sales@example.com' }).waitFor();
    expect(await sender(page).count()).toBe(0);
    expect(await page.getByRole('checkbox', { name: 'Signature' }).count()).toBe(0);
  });

  it.each([
    ['desktop', 'light'],
    ['desktop', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)('is found by all on a %s, in %s colours', async (device, colorScheme) => {
    const isPhone = device === 'phone';
    const { threadId } = await writtenTo('offers@firm.test', `On a ${device}, ${colorScheme}`);
    const page = await open('/', { ...(isPhone ? PHONE : DESKTOP), colorScheme });
    await page.goto(`/t/${threadId}`);
    await page.getByRole('button', { name: isPhone ? 'Antworten' : 'Reply', exact: true }).click();
    const preview = page.getByRole('region', {
      name: isPhone ? 'Signatur, wie sie gesendet wird' : 'Signature as it will be sent',
    });
    await preview.frameLocator('iframe').getByText('Offers team').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await shot(page, `answer-${device}-${colorScheme}`);
    await page.goto('/write/new');
    const from = page.getByRole('button', { name: isPhone ? /^Von / : /^From / });
    await from.press('Enter');
    await page.getByRole('menuitemradio', { name: /@shop\.test/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await shot(page, `menu-${device}-${colorScheme}`);
    await page.keyboard.type('Shop');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toContain('@shop.test');
    await page.keyboard.type('a.rather.long.address.of.a.department');
    await page.keyboard.press('Tab');
    await page.getByText('a.rather.long.address.of.a.department@shop.test').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      isPhone ? 390 : 1280,
    );
    await shot(page, `new-${device}-${colorScheme}`);
  });
});
