/** Using the page with the keyboard alone: the focus is never lost. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { getJson, makeClerk, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const OFFER = { name: 'offer.txt', mimeType: 'text/plain', buffer: Buffer.from('ten euros') };
/** More than any view has. */
const MAX_STOPS = 60;

/** The name of the focused element; null if nothing has the focus. */
const focused = (page: Page) =>
  page.evaluate<string | null>(
    `document.activeElement === document.body ? null : document.activeElement.ariaLabel ?? document.activeElement.textContent`,
  );

interface Stop {
  readonly name: string;
  /** True if it is on screen, at least in part. */
  readonly isSeen: boolean;
  /** True if it looks different than without the focus. */
  readonly isMarked: boolean;
  /** False while the browser is still taking the focus back to the page, as when Tab has gone through all of it: `:focus` matches nothing. */
  readonly isPageFocused: boolean;
}

/** In ms; a slow machine paints late. */
const MAX_PAINT_MS = 2000;

/** The focused element, as a user without a pointer sees it; a text cursor marks a field. Waits until it is on screen and marked. */
const stopOf = (page: Page) =>
  page.evaluate<Stop | null>(`(async () => {
    const look = () => {
      const element = document.activeElement;
      if (element === document.body) return null;
      const label = element.labels?.[0]?.textContent ?? '';
      const labelled = document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent ?? '';
      const name = element.ariaLabel || labelled || label || element.title || element.textContent || element.tagName;
      const { top, left, bottom, right, width, height } = element.getBoundingClientRect();
      const isSeen = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
      const around = [element, element.parentElement, element.parentElement?.parentElement];
      const isMarked = around.some((one) => {
        const style = one === null || one === undefined ? undefined : getComputedStyle(one);
        return style !== undefined && ((style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none');
      });
      return {
        name: name.trim(),
        isSeen,
        isMarked: isMarked || element.matches('textarea, [contenteditable=true]'),
        isPageFocused: document.hasFocus(),
      };
    };
    const end = performance.now() + ${MAX_PAINT_MS};
    let stop;
    do {
      // As it is painted.
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
      stop = look();
    } while (stop !== null && !(stop.isSeen && stop.isMarked) && performance.now() < end);
    return stop;
  })()`);

/** Presses Tab until the named element has the focus; every stop on the way is visible and marked. */
async function tabTo(page: Page, name: RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press(key);
    const stop = await stopOf(page);
    // After the last stop, the browser itself has the focus once.
    if (stop === null) continue;
    expect(stop, `after ${passed.join(' | ')}`).toMatchObject({ isSeen: true, isMarked: true });
    if (name.test(stop.name)) return;
    passed.push(stop.name.slice(0, 40));
  }
  throw new Error(`Tab does not come to ${String(name)}, but to: ${passed.join(' | ')}`);
}

describe.skipIf(skipWithoutChromium())('with the keyboard alone', () => {
  const pages = usePages();
  let running: RunningService & { readonly sink: SmtpSink };
  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  it('a clerk reads, answers with a file, labels, assigns, finishes, searches and writes', async () => {
    const { service, sink } = running;
    const received = await receive(
      service,
      mail({ subject: 'Offer wanted', from: 'Ann Example <ann@customer.test>', body: 'How much is it?' }),
    );
    await makeClerk(service, 'Ada');
    const zoe = await makeClerk(service, 'Zoe');
    await receive(service, mail({ subject: 'Another matter', from: 'Bob <bob@customer.test>' }));
    const threadNow = async () =>
      (
        await getJson<{ thread: { labels: string[]; assignee: string | null; status: string } }>(
          service,
          `/api/threads/${received.threadId}`,
        )
      ).thread;
    await waitUntil('both addresses are known', async () => {
      const { addresses } = await getJson<{ addresses: unknown[] }>(service, '/api/addresses?q=@customer');
      return addresses.length === 2;
    });

    const page = await pages.open(service.url, '/');
    await tabTo(page, /^Skip/);
    await page.keyboard.press('Enter');
    await tabTo(page, /Another matter|Offer wanted/);
    if (!(await stopOf(page))?.name.includes('Offer wanted')) await page.keyboard.press('ArrowDown');
    await expect.poll(async () => (await stopOf(page))?.name).toContain('Offer wanted');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('How much is it?').waitFor();

    await page.getByRole('button', { name: 'Reply', exact: true }).waitFor();
    await page.keyboard.press('r');
    const text = page.getByRole('textbox', { name: 'Message' });
    await text.waitFor();
    await expect.poll(async () => (await stopOf(page))?.name).toBe('Message');
    await page.keyboard.type('Ten euros, see the file.');
    const chosen = page.waitForEvent('filechooser');
    await tabTo(page, /Attach files/);
    await page.keyboard.press('Enter');
    await (await chosen).setFiles([OFFER]);
    await page.getByRole('button', { name: 'Remove offer.txt' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.keyboard.press('z');
    await page.getByText('Not sent. The draft is open again.').waitFor();
    await expect.poll(async () => (await stopOf(page))?.name).toBe('Message');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => sink.messages.length).toBe(1);
    expect(sink.messages[0]?.raw.toString()).toContain('filename="offer.txt"');

    await tabTo(page, /^Labels?/);
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemcheckbox', { name: /^New label/ }).waitFor();
    await page.keyboard.press('End');
    await expect.poll(async () => (await stopOf(page))?.name).toMatch(/^New label …/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(`document.activeElement.matches('input')`)).toBe(true);
    await page.keyboard.type('prices');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await threadNow()).labels).toEqual(['prices']);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await stopOf(page))?.name).toMatch(/^Labels?/);
    await tabTo(page, /^Assign/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Zoe' }).waitFor();
    await page.keyboard.type('Zo');
    await expect.poll(async () => (await stopOf(page))?.name).toBe('Zoe');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await threadNow()).assignee).toBe(zoe.id);
    await expect.poll(async () => (await stopOf(page))?.name).toMatch(/^Assigned/);

    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(async () => (await stopOf(page))?.name).toMatch(/^Assigned/);

    await page.keyboard.press('e');
    await expect.poll(async () => (await threadNow()).status).toBe('done');
    await expect.poll(() => focused(page)).not.toBeNull();

    await page.keyboard.press('/');
    await page.keyboard.type('offer');
    await page.locator('.row', { hasText: 'Offer wanted' }).waitFor();
    await page.keyboard.press('Enter');
    await tabTo(page, /Offer wanted/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Offer wanted' }).waitFor();

    await page.keyboard.press('c');
    await page.getByRole('combobox', { name: 'To' }).waitFor();
    await expect.poll(async () => (await stopOf(page))?.name).toMatch(/^To/);
    await page.keyboard.type('bob');
    await page.getByRole('option', { name: /bob@customer\.test/ }).waitFor();
    await page.keyboard.press('Enter');
    await tabTo(page, /^Subject/);
    await page.keyboard.type('By keys');
    await tabTo(page, /^Message/);
    await page.keyboard.type('Written without a mouse.');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => sink.messages.length).toBe(2);
    expect(sink.messages[1]?.rcptTo).toEqual(['bob@customer.test']);
    await expect.poll(() => focused(page)).not.toBeNull();
  });

  it('an operator is still in the list when the line goes away whose button was pressed', async () => {
    for (const address of ['a@customer.test', 'b@customer.test']) {
      const place = `/api/suppressions/${encodeURIComponent(address)}`;
      const response = await running.service.request(place, { method: 'PUT', json: {} });
      expect(response.status).toBe(200);
    }
    const page = await pages.open(running.service.url, '/operate/suppressions');
    const row = page.locator('tr', { hasText: 'a@customer.test' });
    await row.getByRole('button', { name: 'Allow again' }).focus();
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Suppressed');
    // Tab continues from there.
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).not.toBeNull();
  });

  it('an operator is still in the list after a dialog about a line that is gone', async () => {
    const response = await running.service.request('/api/keys', {
      json: { name: 'Jana', rights: ['read'], account_ids: '*' },
    });
    expect(response.status).toBe(201);
    const page = await pages.open(running.service.url, '/operate/keys');
    const row = page.locator('tr', { hasText: 'Jana' });
    await row.getByRole('button', { name: 'Revoke' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Continue' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await row.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).not.toBeNull();
  });
});
