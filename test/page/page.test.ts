/** The page in Chromium, as the service serves it, with real mail. Build the page first: `npm run build -w page`. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, keepNotices, pressInNotice, usePages } from '../helpers/open-page.ts';
import { getJson, makeClerk, startServiceWithSink } from '../helpers/running-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { TEST_SECRET, type ServiceProcess } from '../helpers/service-process.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: 'de-DE' };
/** Newer than all other mail of this file, and no two in the same second: a test could not predict the order of those in a list. */
const START = Date.now() - 600_000;
let dates = 0;
const DATE = () => new Date(START + (dates += 1) * 1000).toUTCString().replace('GMT', '+0000');

describe.skipIf(skipWithoutChromium())('the page', () => {
  const pages = usePages();
  let service: ServiceProcess;
  let end: () => Promise<void>;

  beforeAll(async () => {
    ({ service, end } = await startServiceWithSink({ TRUSTED_AUTHSERV_IDS: 'mx.test' }));
  });
  afterAll(() => end());

  const open = (place: string, options?: BrowserContextOptions): Promise<Page> =>
    pages.open(service.url, place, TEST_SECRET, options);

  const receiveNow = (subject: string, fields: object = {}) =>
    receive(service, mail({ subject, date: DATE(), from: 'Ann <ann@customer.test>', ...fields }));

  /** Waits until new mail can be found, which takes a moment. */
  const areFound = (q: string, count: number) =>
    waitUntil(`${count} threads are found by ${q}`, async () => {
      const { threads } = await getJson<{ threads: unknown[] }>(service, `/api/threads?q=${q}`);
      return threads.length === count;
    });

  /** Returns the customer's id. */
  const register = async (name: string, address: string): Promise<string> => {
    const id = randomUUID();
    const { status } = await service.request(`/api/customer/${id}/addresses`, {
      method: 'PUT',
      json: { name, addresses: [address], domains: [], company_id: null },
    });
    expect(status).toBe(200);
    return id;
  };

  it('opens a linked thread after the log-in, and marks it as read', async () => {
    const { threadId } = await receiveNow('Linked', { body: 'See https://example.com/offer.' });
    const page = await open(`/t/${threadId}`);
    await page.getByRole('heading', { name: 'Linked' }).waitFor();
    const link = page.locator('.message a');
    expect(await link.getAttribute('href')).toBe('https://example.com/offer');
    expect(await link.getAttribute('rel')).toContain('noopener');
    await expect
      .poll(async () => {
        const { thread } = await getJson<{ thread: { unread_count: number } }>(
          service,
          `/api/threads/${threadId}`,
        );
        return thread.unread_count;
      })
      .toBe(0);
  });

  it(
    'takes a login link in a tab that has the page already, and says so when it was used before',
    { tags: ['long'] },
    async () => {
      const page = await pages.logIn(service.url, '/', 'wrong-secret-of-32-characters-123456');
      await page.getByText('This key is not valid').waitFor();
      // The token of the first start.
      const token = /#token=([\w-]{43})/.exec(service.log.join('\n'))?.[1] ?? '';
      const follow = () => page.evaluate(`location.hash = 'token=${token}'`);
      await follow();
      await page.locator('#list').waitFor();
      expect(page.url()).not.toContain('token');
      // The existing session continues.
      await follow();
      await page.getByText('This link has already been used').waitFor();
      expect(page.url()).not.toContain('token');
      await page.getByRole('button', { name: /API_SECRET/ }).click();
      await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
      await page.locator('input[name=secret]').waitFor();
      await follow();
      await page.locator('.login-form').getByText('This link has already been used').waitFor();
      expect(page.url()).not.toContain('token');
    },
  );

  it('refuses a wrong secret in words', async () => {
    const page = await pages.logIn(service.url, '/', 'wrong-secret-of-32-characters-123456');
    await page.getByText('This key is not valid').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('shows new mail by itself, and goes through the list by keys', async () => {
    await receiveNow('First of two');
    const page = await open('/');
    await page.locator('.row', { hasText: 'First of two' }).waitFor();
    await receiveNow('Second of two', { body: 'Text of the second.' });
    await page.locator('.row', { hasText: 'Second of two' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('article').getByText('Text of the second.').waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'First of two' }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Second of two' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('leaves lines where they are seen while new mail comes in above', { tags: ['long'] }, async () => {
    const lineDates = Array.from({ length: 16 }, DATE);
    for (const [number, date] of lineDates.entries()) await receiveNow(`Line ${number}`, { date });
    const page = await open('/');
    await page.locator('.row', { hasText: 'Line 15' }).waitFor();
    const scrolled = (): Promise<number> => page.evaluate(`document.querySelector('.list-scroll').scrollTop`);
    // As painted: between two frames, Chromium still finds lines where they were before.
    const topRow = (): Promise<string> =>
      page.evaluate(`(async () => {
        for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
        const { left, top } = document.querySelector('.list-scroll').getBoundingClientRect();
        return document.elementFromPoint(left + 40, top + 10).closest('.row').textContent;
      })()`);
    await page.evaluate(`document.querySelector('.list-scroll').scrollTo(0, 300)`);
    const seen = await topRow();
    await receiveNow('Above the lines');
    await expect.poll(scrolled).toBeGreaterThan(300);
    expect(await topRow()).toBe(seen);
    // With an older date, it is inserted among the lines: below the topmost visible one.
    const scrolledTo = await scrolled();
    await receiveNow('Among the lines', { date: lineDates[10] });
    await page.locator('.row', { hasText: 'Among the lines' }).waitFor();
    expect(await topRow()).toBe(seen);
    expect(await scrolled()).toBe(scrolledTo);
    await page.evaluate(`document.querySelector('.list-scroll').scrollTo(0, 0)`);
    await page.locator('.row', { hasText: 'Above the lines' }).waitFor();
  });

  it('finishes a thread by a key, and takes that back', async () => {
    const { threadId } = await receiveNow('To be finished');
    const page = await open(`/t/${threadId}`);
    await page.getByRole('heading', { name: 'To be finished' }).waitFor();
    const status = async () =>
      (await getJson<{ thread: { status: string } }>(service, `/api/threads/${threadId}`)).thread.status;
    await keepNotices(page);
    await page.keyboard.press('e');
    await expect.poll(status).toBe('done');
    await expect.poll(() => page.locator('.row', { hasText: 'To be finished' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(status).toBe('open');
    await page.locator('.row', { hasText: 'To be finished' }).waitFor();
  });

  it('never overwrites what another person changed meanwhile', { tags: ['long'] }, async () => {
    const { threadId } = await receiveNow('Contested');
    const other = await makeClerk(service, 'Other');
    await makeClerk(service, 'Third');
    const page = await open('/');
    // The page does not learn of the change.
    await page.context().route(/\/api\/events/, (route) => route.fulfill({ status: 404 }));
    await page.goto(`/t/${threadId}`);
    await page.getByRole('heading', { name: 'Contested' }).waitFor();
    const { status } = await service.request(`/api/threads/${threadId}`, {
      method: 'PATCH',
      json: { assignee: other.id },
    });
    expect(status).toBe(200);
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Third' }).click();
    await page.getByText('This thread was changed in the meantime').waitFor();
    await page.getByRole('button', { name: 'Assigned to Other' }).waitFor();
    const { thread } = await getJson<{ thread: { assignee: string } }>(service, `/api/threads/${threadId}`);
    expect(thread.assignee).toBe(other.id);
  });

  it('finishes several threads at once, and takes that back', { tags: ['long'] }, async () => {
    await receiveNow('Bulk one');
    await receiveNow('Bulk two');
    const page = await open('/');
    await keepNotices(page);
    for (const subject of ['Bulk one', 'Bulk two']) {
      await page.locator('.row', { hasText: subject }).hover();
      await page.getByRole('checkbox', { name: `Select: ${subject}` }).check();
    }
    await page.getByRole('heading', { name: '2 selected' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    const rows = page.locator('.row', { hasText: /Bulk (one|two)/ });
    await expect.poll(() => rows.count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    const { id } = await makeClerk(service, 'Bulk clerk');
    for (const subject of ['Bulk one', 'Bulk two']) {
      await page.locator('.row', { hasText: subject }).hover();
      await page.getByRole('checkbox', { name: `Select: ${subject}` }).check();
    }
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Bulk clerk' }).click();
    await rows.getByText('Assigned to Bulk clerk').nth(1).waitFor();
    const assigned = async () =>
      (await getJson<{ threads: unknown[] }>(service, `/api/threads?assignee=${id}`)).threads.length;
    await expect.poll(assigned).toBe(2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(assigned).toBe(0);
  });

  it(
    'leads back to the place in a list and in a thread, and to a selection',
    { tags: ['long'] },
    async () => {
      const topics = Array.from({ length: 60 }, (_, number) => `Topic ${String(number).padStart(2, '0')}`);
      for (const subject of topics) await receiveNow(subject);
      const long = await receiveNow('Topic with two', { body: 'word\r\n'.repeat(80) });
      await receiveNow('Topic with two', { inReplyTo: long.messageId, body: 'word\r\n'.repeat(80) });
      const page = await open('/f/open');
      await page.locator('.row', { hasText: 'Topic 59' }).waitFor();
      const rowAtTop = () =>
        page.evaluate<string>(`(() => {
        const { left, top } = document.querySelector('.list-scroll').getBoundingClientRect();
        return document.elementFromPoint(left + 60, top + 4)?.closest('.row')?.textContent ?? '';
      })()`);
      // The page learns of a scroll with the next frame. A person sees it no earlier; a key of a test may come before.
      const scrollTo = (pane: string, top: number) =>
        page.evaluate(`(async () => {
        document.querySelector('${pane}').scrollTo({ top: ${top}, behavior: 'instant' });
        await new Promise(requestAnimationFrame);
      })()`);
      // Further down than the first page of the list reaches.
      await scrollTo('.list-scroll', 3000);
      await expect
        .poll(() => page.evaluate(`document.querySelector('.list-scroll').scrollHeight`))
        .toBeGreaterThan(4400);
      await scrollTo('.list-scroll', 4000);
      await expect.poll(rowAtTop).toMatch(/Topic 0|Topic 1/);
      const nearTop = /Topic \d\d/.exec(await rowAtTop())?.[0] ?? 'none';
      // This may scroll, for the box to be seen.
      await page.locator('.row', { hasText: nearTop }).getByRole('checkbox').check();
      const seen = /Topic \d\d/.exec(await rowAtTop())?.[0] ?? 'none';
      await page.getByRole('heading', { name: '1 selected' }).waitFor();
      await page.getByRole('link', { name: 'Done' }).click();
      await expect.poll(() => page.locator('.row', { hasText: seen }).count()).toBe(0);
      await page.goBack();
      await expect.poll(rowAtTop).toContain(seen);
      await page.getByRole('heading', { name: '1 selected' }).waitFor();
      await page.reload();
      await expect.poll(rowAtTop).toContain(seen);
      await page.getByRole('heading', { name: '1 selected' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: '1 selected' }).waitFor({ state: 'detached' });

      await page.goto(`/f/open/${long.threadId}`);
      await page.getByRole('article').nth(1).waitFor();
      const scrolled = () => page.evaluate<number>(`document.querySelector('.thread-scroll').scrollTop`);
      await scrollTo('.thread-scroll', 300);
      await expect.poll(scrolled).toBe(300);
      await page.keyboard.press('j');
      await page.getByRole('heading', { name: 'Topic 59' }).waitFor();
      await page.goBack();
      await expect.poll(scrolled).toBe(300);
      await page.reload();
      await page.getByRole('article').nth(1).waitFor();
      await expect.poll(scrolled).toBe(300);
      // An email that came since is what the thread is opened for.
      await page.goto('/f/done');
      await receiveNow('Topic with two', { inReplyTo: long.messageId, body: 'word\r\n'.repeat(80) });
      await page.goto(`/f/open/${long.threadId}`);
      await page.getByRole('article').nth(2).waitFor();
      // Whether the emails above it are folded depends on how long the thread was open, and so was read.
      const newestBelowTop = () =>
        page.evaluate<number>(`(() => {
        const topOf = (one) => one.getBoundingClientRect().top;
        const pane = document.querySelector('.thread-scroll');
        return Math.round(topOf([...pane.querySelectorAll('.message')].at(-1)) - topOf(pane));
      })()`);
      await expect.poll(newestBelowTop).toBe(72);
    },
  );

  it('searches as you type, and says so when nothing is found', async () => {
    await receiveNow('Zanzibar spices');
    await areFound('zanzibar', 1);
    const page = await open('/');
    await page.keyboard.press('/');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('zanzib');
    await page.locator('.row', { hasText: 'Zanzibar spices' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('zanzib');
    // An open search finds new mail too, a moment after it came.
    await receiveNow('Zanzibar cloves');
    await page.locator('.row', { hasText: 'Zanzibar cloves' }).waitFor();
    expect(await page.evaluate(`document.activeElement?.matches('.search input')`)).toBe(true);
    await page.keyboard.type('qqq');
    await page.getByText('Nothing found').waitFor();
    // A letter comes between the request for the search and its list.
    await page.goto('/f/open');
    await page.evaluate(`(() => {
      const push = history.pushState;
      history.pushState = (...place) => {
        history.pushState = push;
        push.apply(history, place);
        document.execCommand('insertText', false, 'r');
      };
    })()`);
    await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('zanziba');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('zanzibar');
    await page.locator('.row', { hasText: 'Zanzibar cloves' }).waitFor();
  });

  it('searches by operators, marks what was found, and helps with them', { tags: ['long'] }, async () => {
    await receiveNow('Saffron offer', {
      from: 'Vera Marlow <vera@marlow.test>',
      body: 'The price of saffron.',
    });
    await receiveNow('Saffron order', { from: 'Ann <ann@customer.test>' });
    await areFound('saffron', 2);
    const page = await open('/');
    const rows = page.locator('.row');
    await page.keyboard.press('/');
    await page.keyboard.type('saffron');
    await expect.poll(() => rows.count()).toBe(2);
    await page.keyboard.type(' from:marlow before:never');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByText('“before:never” can’t be used').waitFor();
    await expect.poll(() => rows.locator('mark').allTextContents()).toEqual(['Marlow', 'Saffron', 'saffron']);
    await page.getByRole('button', { name: 'How to search' }).click();
    await page.getByRole('menuitem', { name: 'subject:offer' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'has:file' }).click();
    await page.getByText('Nothing found').waitFor();
    const field = page.getByRole('searchbox', { name: 'Search' });
    expect(await field.inputValue()).toBe('saffron from:marlow before:never has:file');
    await field.fill('saffron');
    await page.getByRole('button', { name: 'How to search' }).click();
    await page.getByRole('menuitem', { name: 'subject:offer' }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(`document.activeElement?.matches('.search input')`)).toBe(true);
    await page.keyboard.type('offer');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.first().click();
    await page.getByRole('article').locator('mark', { hasText: 'saffron' }).waitFor();
  });

  it(
    'finds the mail of a customer by the name, and asks which one is meant',
    { tags: ['long'] },
    async () => {
      await register('Borneo Trading', 'ann@borneo.test');
      await register('Borneo Shipping', 'bob@borneo-ships.test');
      await receiveNow('Teak', { from: 'ann@borneo.test' });
      await receiveNow('Freight', { from: 'bob@borneo-ships.test' });
      const page = await open('/search?q=customer:borneo');
      await page.getByRole('button', { name: 'Borneo Shipping' }).click();
      await page.locator('.row', { hasText: 'Freight' }).waitFor();
      expect(await page.locator('.row').count()).toBe(1);
      expect(new URL(page.url()).searchParams.get('q')).toBe('customer:"Borneo Shipping"');
      await page.goto('/search?q=customer:atlantis');
      await page.getByText('No customer is called “atlantis”.').waitFor();
    },
  );

  it(
    'names the customer who probably wrote through a form, and keeps the other form in which the email came',
    { tags: ['long'] },
    async () => {
      const customer = await register('Relay Trading', 'ada@relay.test');
      const form = {
        messageId: newId(),
        date: DATE(),
        from: 'Our shop <sales@example.com>',
        headers: ['Reply-To: Ada <ada@relay.test>'],
      };
      const { threadId } = await receiveNow('Enquiry', { ...form, body: 'Is it there?' });
      const marked = mail({ ...form, subject: 'Enquiry', body: 'Is it there?\r\n-- \r\nScanned' });
      expect((await receive(service, marked)).threadId).toBe(threadId);
      const page = await open(`/t/${threadId}`);
      await page.getByText('Probably written by Ada <ada@relay.test>.').waitFor();
      await page.getByText('Probable customer: Relay Trading.').waitFor();
      await page.getByRole('button', { name: 'Another version' }).click();
      await page.getByText(/submitted by a program, \d+ bytes, with other content/).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      const downloaded = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download', exact: true }).click();
      expect(await readFile(await (await downloaded).path(), 'utf8')).toBe(marked);
      await page.getByRole('button', { name: 'Use this customer' }).click();
      await page.getByText('Probable customer').waitFor({ state: 'detached' });
      const { thread } = await getJson<{ thread: { customer_id: string } }>(
        service,
        `/api/threads/${threadId}`,
      );
      expect(thread.customer_id).toBe(customer);
    },
  );

  it('lists threads that mail did not join, and opens them', { tags: ['long'] }, async () => {
    const send = async (subject: string) => {
      const response = await service.request('/api/send', {
        json: { to: `${randomUUID()}@people.test`, subject, text_body: 'Hello', customer_id: randomUUID() },
      });
      expect(response.status).toBe(200);
      return ((await response.json()) as { readonly messageId: string }).messageId;
    };
    const [first, second] = [await send('Of one customer'), await send('Of another customer')];
    await receiveNow('Re: both', { inReplyTo: second, references: [first, second] });
    const page = await open('/operate/merges');
    const links = page.getByRole('link', { name: 'Open the thread' });
    await links.first().waitFor();
    expect(await links.count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    await links.last().click();
    await page.getByRole('heading', { name: /^Of (one|another) customer$/ }).waitFor();
  });

  it('warns of an email whose sender is not confirmed', { tags: ['long'] }, async () => {
    const { threadId } = await receiveNow('Forged', {
      headers: [
        'Authentication-Results: mx.test; spf=fail smtp.mailfrom=customer.test; dmarc=fail header.from=customer.test',
      ],
    });
    const page = await open(`/t/${threadId}`);
    await page.getByText('The sender could not be confirmed and may be forged.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('warns of a stranger in a thread, and folds what is quoted', { tags: ['long'] }, async () => {
    const first = newId();
    const { threadId } = await receiveNow('Quoted', { messageId: first });
    await receiveNow('Re: Quoted', {
      from: 'Eve <eve@elsewhere.test>',
      inReplyTo: first,
      body: 'My answer.\r\n\r\nOn Sunday Ann wrote:\r\n> The old question.',
    });
    const page = await open(`/t/${threadId}`);
    await page.getByText('This sender is new to this thread').waitFor();
    const emails = page.getByRole('article');
    await emails.getByText('My answer.').waitFor();
    expect(await emails.getByText('The old question.').count()).toBe(0);
    await page.getByRole('button', { name: 'Show quoted text' }).click();
    await emails.getByText('The old question.').waitFor();
  });

  it('answers an email: the draft is kept, the send is taken back, and then it goes out', async () => {
    const { threadId } = await receiveNow('To be answered', {
      from: '"Ann, of Example" <ann@customer.test>',
    });
    let page = await open(`/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply', exact: true }).waitFor();
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Message' }).fill('Many thanks!');
    expect(await page.getByRole('combobox', { name: 'To' }).inputValue()).toBe(
      '"Ann, of Example" <ann@customer.test>',
    );
    await page.getByText('Draft saved').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // As after a crash.
    await page.context().close();
    page = await open(`/t/${threadId}`);
    const text = page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => text.innerText()).toBe('Many thanks!');
    await pressInNotice(page, 'Undo');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await text.waitFor();
    await text.fill('Many thanks indeed!');
    await text.press('Control+Enter');
    await page.locator('.mail-frame').last().contentFrame().getByText('Many thanks indeed!').waitFor();
    await expect
      .poll(async () => {
        const { emails } = await getJson<{ emails: { text_body: string; direction: string }[] }>(
          service,
          `/api/thread/${threadId}`,
        );
        return emails.filter(({ direction }) => direction === 'outbound').map(({ text_body }) => text_body);
      })
      .toEqual([expect.stringContaining('Many thanks indeed!')]);
  });

  it(
    'shows HTML in a frame that is as high as the email, and remote images when asked',
    { tags: ['long'] },
    async () => {
      const { threadId } = await receiveNow('Designed', {
        headers: ['MIME-Version: 1.0', 'Content-Type: text/html; charset=utf-8'],
        body: '<h1 style="margin:0;height:700px">Big news</h1><img src="https://tracker.invalid/a.png" alt="logo">',
      });
      const page = await open(`/t/${threadId}`);
      const frame = page.locator('.mail-frame');
      await frame.contentFrame().getByRole('heading', { name: 'Big news' }).waitFor();
      await expect.poll(async () => (await frame.boundingBox())?.height).toBeGreaterThan(650);
      expect(await frame.contentFrame().locator('img[src]').count()).toBe(0);
      const fetched = page.waitForRequest(/\/api\/images\/[^/]+\?address=/);
      await page.getByRole('button', { name: 'Show images' }).click();
      await frame.contentFrame().locator('img[src^="/api/images/"]').waitFor({ state: 'attached' });
      await fetched;
    },
  );

  it('warns of a sender that deceives and of a file that can do harm', { tags: ['long'] }, async () => {
    const { threadId } = await receiveNow('Rechnung', {
      from: '"service@bank.test" <x@www.bank.test.account.verification.of.a.long.name.evil.test>',
      headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
      body: [
        '--b\r\n\r\nSiehe https://bank.test@evil.test/\r\n--b',
        'Content-Type: application/pdf',
        'Content-Disposition: attachment; filename="Rechnung ueber Ihre Bestellung vom Oktober.pdf.exe"',
        '',
        'MZ\r\n--b--',
      ].join('\r\n'),
    });
    const page = await open('/', { viewport: { width: 1280, height: 860 }, locale: 'en-GB' });
    await page.locator('.row', { hasText: 'Careful: the sender may deceive' }).first().click();
    await page.goto(`/t/${threadId}`);
    await page.getByText('The name of this sender shows another address.').waitFor();
    await page.getByText('shows https://bank.test@evil.test/, leads to evil.test').waitFor();
    await page
      .locator('.message-address .middle-end', { hasText: /a\.long\.name\.evil\.test$|name\.evil\.test$/ })
      .waitFor();
    const file = page.locator('.file');
    expect(await file.locator('.middle-end').textContent()).toBe('.pdf.exe');
    expect(await file.locator('a').count()).toBe(0);
    await file.getByRole('button').click();
    await page.getByText('This file is a program.').waitFor();
    await page.getByText('It is: EXE').waitFor();
    await file.getByRole('link', { name: 'Download anyway' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'names the true host of a disguised link: %s',
    { tags: ['long'] },
    async (colorScheme) => {
      const receiveHtml = (body: string) =>
        receiveNow('Disguised', { headers: ['MIME-Version: 1.0', 'Content-Type: text/html'], body });
      const page = await open('/', { viewport: { width: 1280, height: 860 }, locale: 'en-GB', colorScheme });
      /** The width of the mark beside the words, and its appearance. */
      const markOf = async (threadId: string) => {
        await page.goto(`/t/${threadId}`);
        const frame = page.locator('.mail-frame[data-is-loaded]');
        await frame.contentFrame().locator('a').waitFor({ state: 'attached' });
        return page.evaluate<{ host: string; width: number; color: string; padding: string }>(`(() => {
        const { contentDocument: mail, contentWindow: view } = document.querySelector('.mail-frame');
        const link = mail.links[0];
        const words = mail.createRange();
        words.selectNodeContents(link);
        const widthOf = (one) => one.getBoundingClientRect().width;
        return {
          host: link.dataset.linkHost,
          width: widthOf(link) - widthOf(words),
          color: view.getComputedStyle(link, '::before').color,
          padding: view.getComputedStyle(mail.body).paddingLeft,
        };
      })()`);
      };
      const isDark = colorScheme === 'dark';
      const plain = await receiveHtml(
        '<a href="https://evil.example/" data-link-host="bank.example">https://bank.example/</a>',
      );
      expect(await markOf(plain.threadId)).toEqual({
        host: 'evil.example',
        width: expect.toSatisfy((width: number) => width > 80),
        color: isDark ? 'rgb(255, 156, 148)' : 'rgb(179, 38, 30)',
        padding: '0px',
      });
      // Outside the mail as well, which could push the mark out of sight.
      expect(await page.locator('.link-hosts li').allTextContents()).toEqual([
        expect.stringMatching(/bank\.example.*evil\.example/),
      ]);
      expect(await accessibilityFaults(page)).toEqual([]);
      // The sender tries to hide it; mail with its own colours stands on a light sheet.
      const styled = await receiveHtml(
        '<div style="background:#eee;font-size:0;color:#eee"><a style="display:block;overflow:hidden;width:9px;opacity:0" ' +
          'href="https://evil.example/"><span style="font-size:16px;color:#111">https://bank.example/</span></a></div>',
      );
      expect(await markOf(styled.threadId)).toEqual({
        host: 'evil.example',
        width: expect.toSatisfy((width: number) => width > 80),
        color: 'rgb(179, 38, 30)',
        padding: isDark ? '16px' : '0px',
      });
    },
  );

  it(
    'shows names and subjects in the order of their characters, whatever turns their direction round',
    { tags: ['long'] },
    async () => {
      await receiveNow('Invoice \u202Egnp.exe', { from: '"Eve \u202Etxt.\u2066" <eve@customer.test>' });
      const page = await open('/');
      const row = page.locator('.row', { hasText: 'gnp.exe' });
      await row.waitFor();
      expect(await row.locator('.row-subject').textContent()).toBe('Invoice gnp.exe');
      expect(await row.locator('.row-people').textContent()).toBe('Eve txt.');
      await row.click();
      expect(await page.getByRole('heading', { level: 1, name: 'Invoice gnp.exe' }).textContent()).toBe(
        'Invoice gnp.exe',
      );
      await page.getByRole('article').getByText('Eve txt.', { exact: true }).waitFor();
      expect(await page.title()).toBe('Invoice gnp.exe – Mail');
      await page.getByRole('button', { name: 'Reply', exact: true }).click();
      expect(await page.getByRole('combobox', { name: 'To' }).inputValue()).toBe(
        '"Eve txt." <eve@customer.test>',
      );
      expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Re: Invoice gnp.exe');
    },
  );

  it('says that a mail has no sender, and that a folded one has files', { tags: ['long'] }, async () => {
    const first = newId();
    const date = DATE();
    const { threadId } = await receive(
      service,
      [
        'To: sales@example.com',
        'Subject: From nobody',
        `Date: ${date}`,
        `Message-ID: ${first}`,
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        '',
        'See the file.',
        '--b',
        'Content-Type: text/plain',
        'Content-Disposition: attachment; filename="a.txt"',
        '',
        'a',
        '--b--',
        '',
      ].join('\r\n'),
    );
    const page = await open('/');
    await page.locator('.row', { hasText: 'From nobody' }).getByText('(no sender)').waitFor();
    await page.goto(`/t/${threadId}`);
    const email = page.getByRole('article');
    await email.getByText('a.txt').waitFor();
    await email.getByRole('button', { name: /^Collapse this email: \(no sender\)/ }).click();
    await email.getByText('Has attachments').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('shows one pane at a time on a phone, in German and in the dark', { tags: ['long'] }, async () => {
    await receiveNow('Unterwegs');
    const page = await open('/', { ...PHONE, colorScheme: 'dark' });
    await page.getByRole('heading', { name: 'Offen' }).waitFor();
    await page.locator('.row', { hasText: 'Unterwegs' }).tap();
    await page.getByRole('heading', { name: 'Unterwegs' }).waitFor();
    expect(await page.locator('.pane-list').isVisible()).toBe(false);
    await page.locator('.message-address', { hasText: 'ann@customer.test' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // A wide email is scaled down.
    const wide = await receiveNow('Breit', {
      headers: ['Content-Type: text/html'],
      body: '<table width="600" bgcolor="#eeeeee"><tr><td>left<td align="right">right</table>',
    });
    await page.goto(`/t/${wide.threadId}`);
    const right = page.locator('.mail-frame').contentFrame().getByText('right');
    await expect
      .poll(async () => {
        const box = await right.boundingBox();
        return box !== null && box.x + box.width <= 390;
      })
      .toBe(true);
    // One that is always wider than its frame keeps its size, and its layout for small windows.
    const fluid = await receiveNow('Fliessend', {
      headers: ['Content-Type: text/html'],
      body:
        '<style>@media (max-width: 600px) { .col { display: block; width: 100% } }</style>' +
        '<table width="600" style="width:100%;max-width:600px" bgcolor="#eeeeee">' +
        '<tr><td class="col" width="300" style="padding:10px">first<td class="col" width="300" style="padding:10px">second</table>',
    });
    await page.goto(`/t/${fluid.threadId}`);
    const columns = page.locator('.mail-frame').contentFrame();
    await expect
      .poll(async () => {
        const [first, second] = [
          await columns.getByText('first').boundingBox(),
          await columns.getByText('second').boundingBox(),
        ];
        return first !== null && second !== null && first.x === second.x && first.y < second.y;
      })
      .toBe(true);
    await page.goto(`/t/${wide.threadId}`);
    // Nothing of it is cut off by the margin that it has in the dark.
    await expect
      .poll(() =>
        page.evaluate(`(() => {
        const { firstElementChild: mail } = document.querySelector('.mail-frame').contentDocument.body;
        return mail.scrollWidth - mail.clientWidth;
      })()`),
      )
      .toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'Zurück' }).tap();
    await page.locator('.row', { hasText: 'Unterwegs' }).waitFor();
    await page.getByRole('button', { name: 'Menü' }).tap();
    await page.getByRole('dialog', { name: 'Ordner' }).getByText('Erledigt').tap();
    await page.getByRole('heading', { name: 'Erledigt' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  it('logs out, and shows no mail after that', { tags: ['long'] }, async () => {
    await receiveNow('Secret things');
    const page = await open('/');
    await page.locator('.row', { hasText: 'Secret things' }).waitFor();
    await page.getByRole('button', { name: /API_SECRET/ }).click();
    await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
    await page.locator('input[name=secret]').waitFor();
    expect(await page.getByText('Secret things').count()).toBe(0);
    expect((await page.request.get('/api/threads')).status()).toBe(401);
  });
});
