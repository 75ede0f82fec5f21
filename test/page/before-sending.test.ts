/** Before a message goes out: the confirmations that the page asks for, and a moment to send it at. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { accessibilityFaults, pressInNotice, usePages } from '../helpers/open-page.ts';
import {
  getJson,
  sendJson,
  startServiceWithDatabase,
  type RunningService,
} from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const ANN = '3f6f2a3e-8c1d-4b57-9f0a-1d2c3b4a5e6f';
const BOB = '4f6f2a3e-8c1d-4b57-9f0a-1d2c3b4a5e6f';
const BERLIN = { viewport: { width: 1360, height: 860 }, locale: 'en-GB', timezoneId: 'Europe/Berlin' };

describe.skipIf(skipWithoutChromium())('before a message goes out', () => {
  let running: RunningService;
  let threadId: string;
  const pages = usePages();

  beforeAll(async () => {
    running = await startServiceWithDatabase();
    const send = (to: string, customer_id: string) =>
      sendJson(running.service, { to, subject: `To ${to}`, text_body: 'Hello', customer_id });
    ({ threadId } = await send('ann@customer.test', ANN));
    await send('bob@other.test', BOB);
    await running.service.request('/api/suppressions/bob%40other.test', { method: 'PUT', json: {} });
    await waitUntil('both addresses are known', async () => {
      const { addresses } = await getJson<{ addresses: { customer_id: string | null }[] }>(
        running.service,
        '/api/addresses',
      );
      return addresses.filter(({ customer_id: id }) => id === ANN || id === BOB).length === 2;
    });
  });
  afterAll(() => running.end());

  const messageIn = (page: Page) => page.getByRole('textbox', { name: 'Message' });

  it('the writer names a customer of somebody else, an address that takes no mail, and a missing file', async () => {
    const page = await pages.open(running.service.url, `/t/${threadId}`);
    await page.getByRole('button', { name: 'Reply to all' }).click();
    await messageIn(page).fill('Anbei das Angebot.');
    const copy = page.getByRole('combobox', { name: 'Cc', exact: true });
    await copy.fill('Bob <Bob@other.test>');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('bob@other.test is suppressed').waitFor();
    await alert.getByText('bob@other.test belongs to another customer').waitFor();
    await alert.getByText('You mention an attachment, but there is none.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await copy.fill('');
    await expect.poll(() => alert.count()).toBe(0);
    // The user was warned about the file, and wants to send it anyway.
    await pressInNotice(page, 'Undo');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('Draft discarded').waitFor();
  });

  const queueForTomorrow = async (): Promise<{ id: string; threadId: string }> => {
    const response = await running.service.request('/api/send', {
      json: {
        to: 'ann@customer.test',
        subject: 'Waits',
        text_body: 'Hello',
        send_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    });
    expect(response.status).toBe(202);
    return (await response.json()) as { id: string; threadId: string };
  };

  const scheduled = async (): Promise<readonly Date[]> => {
    const { emails } = await getJson<{ emails: { subject: string; next_attempt_at: string | null }[] }>(
      running.service,
      '/api/emails?state=queued',
    );
    return emails
      .filter(({ subject }) => subject === 'Later')
      .map(({ next_attempt_at: at }) => new Date(at ?? Number.NaN));
  };

  it('a message is sent tomorrow morning, or at a time that a person types', async () => {
    const page = await pages.open(running.service.url, '/write/new', TEST_SECRET, BERLIN);
    const write = async (): Promise<void> => {
      await page.getByRole('combobox', { name: 'To' }).fill('ann@customer.test');
      await page.getByRole('textbox', { name: 'Subject' }).fill('Later');
      await messageIn(page).fill('Good morning');
      await page.getByRole('button', { name: 'Send later' }).click();
      await page.getByRole('dialog', { name: 'Send later' }).waitFor();
    };
    await write();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: /^Tomorrow morning/ }).click();
    await page.getByText(/^Scheduled for /).waitFor();
    await expect.poll(async () => (await scheduled()).length).toBe(1);
    const [first] = await scheduled();
    const inBerlin = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Europe/Berlin' });
    expect(inBerlin.format(first)).toBe('08:00');
    expect(first?.getTime()).toBeGreaterThan(Date.now());

    await page.goto('/write/new');
    await write();
    const year = page.getByRole('spinbutton', { name: /year/i });
    const thisYear = (await year.innerText()).trim();
    await year.click();
    await page.keyboard.type('2020');
    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('Choose a time within the next year.').waitFor();
    await year.click();
    await page.keyboard.type(thisYear);
    await page.getByRole('spinbutton', { name: /minute/i }).click();
    await page.keyboard.type('30');
    await page.getByRole('button', { name: 'Schedule' }).click();
    await expect
      .poll(async () => (await scheduled()).map((at) => inBerlin.format(at)).sort())
      .toEqual(['08:00', '08:30']);
  });

  it('a message that waits is given another time, and taken back', async () => {
    const { id, threadId: waiting } = await queueForTomorrow();
    const stateOf = () =>
      getJson<{ state: string; next_attempt_at: string | null }>(running.service, `/api/emails/${id}`);
    const page = await pages.open(running.service.url, `/t/${waiting}`, TEST_SECRET, BERLIN);
    await page.getByRole('button', { name: 'Change the time' }).click();
    await page.getByRole('spinbutton', { name: /minute/i }).click();
    await page.keyboard.type('45');
    await page.getByRole('button', { name: 'Schedule' }).click();
    await expect.poll(async () => (await stateOf()).next_attempt_at).toMatch(/T0[67]:45:00/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel sending' }).click();
    await page.getByText('It will not be sent.').waitFor();
    expect((await stateOf()).state).toBe('cancelled');
    await expect.poll(() => page.getByRole('button', { name: 'Change the time' }).count()).toBe(0);
  });
});
