/** Two clerks at once in the page: who answers, whose draft it is, and what is left of a text when a tab is killed. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, pressInNotice, usePages } from '../helpers/open-page.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

const GERMAN = { viewport: { width: 1360, height: 860 }, locale: 'de-DE' } as const;

interface DraftLine {
  readonly id: string;
  readonly author: string | null;
}

describe.skipIf(skipWithoutChromium())('two clerks', () => {
  const pages = usePages();
  let running: RunningService & { readonly sink: SmtpSink };
  const secrets: Record<string, string> = {};

  beforeAll(async () => {
    running = await startServiceWithSink();
    for (const name of ['Mia', 'Ben']) {
      const made = await running.service.request('/api/keys', {
        json: { name, account_ids: '*', rights: ['read', 'draft', 'send', 'handle'] },
      });
      secrets[name] = ((await made.json()) as { secret: string }).secret;
    }
  });
  afterAll(() => running.end());

  const open = (name: string, place: string) => pages.open(running.service.url, place, secrets[name], GERMAN);

  const question = (subject: string) =>
    receive(
      running.service,
      mail({
        subject,
        from: 'Ann Example <ann@customer.test>',
        messageId: `<${randomUUID()}@customer.test>`,
        date: new Date().toUTCString().replace('GMT', '+0000'),
      }),
    );

  const answer = async (page: Page, text: string) => {
    await page.getByRole('button', { name: 'Antworten', exact: true }).click();
    await page.getByRole('textbox', { name: 'Nachricht' }).pressSequentially(text);
  };
  const send = (page: Page) => page.getByRole('button', { name: 'Senden', exact: true }).click();
  const drafts = async () => (await getJson<{ drafts: DraftLine[] }>(running.service, '/api/drafts')).drafts;
  const textOf = async (id: string) =>
    (await getJson<{ message: { text_body?: string } }>(running.service, `/api/drafts/${id}`)).message
      .text_body;

  /** The id of Mia's draft, once the service has all of its text. */
  const draftSaying = async (text: string): Promise<string> => {
    const idOf = async () => (await drafts()).find(({ author }) => author === 'Mia')?.id ?? '';
    await expect.poll(async () => textOf(await idOf())).toContain(text);
    return idOf();
  };

  it('who answer the same email see both texts, and the second decides', async () => {
    const { threadId } = await question('Where is it?');
    const [mia, ben] = await Promise.all([open('Mia', `/t/${threadId}`), open('Ben', `/t/${threadId}`)]);
    await Promise.all([answer(mia, 'It comes on Monday.'), answer(ben, 'It is lost, sorry.')]);
    await send(mia);
    await mia.getByText('Wird in wenigen Sekunden gesendet').waitFor();
    await send(ben);
    const asked = ben.locator('.moved-on');
    await asked.getByText('Mia hat geantwortet').waitFor();
    expect(await asked.innerText()).toContain('It comes on Monday.');
    expect(await ben.getByRole('textbox', { name: 'Nachricht' }).innerText()).toContain('It is lost, sorry.');
    // A tooltip under the pointer is no part of the question.
    await ben.mouse.move(0, 0);
    await ben.locator('[data-overlay-container]').waitFor({ state: 'detached' });
    expect(await accessibilityFaults(ben)).toEqual([]);
    await asked.getByRole('button', { name: 'Trotzdem senden' }).click();
    await ben.getByText('Wird in wenigen Sekunden gesendet').waitFor();
    await expect.poll(() => running.sink.messages.length).toBe(2);
    for (const name of ['Mia', 'Ben']) await ben.getByText(`geschrieben von ${name}`).waitFor();
  });

  it('see the other one’s draft under its name, and continue it only after they took it over', async () => {
    const { threadId } = await question('How much?');
    const mia = await open('Mia', `/t/${threadId}`);
    await answer(mia, 'Ten euros.');
    await draftSaying('Ten euros.');
    const ben = await open('Ben', `/t/${threadId}`);
    await ben.getByText('Entwurf von Mia').first().waitFor();
    await ben.locator('.others-draft').getByText('Ten euros.').waitFor();
    expect(await ben.getByRole('textbox', { name: 'Nachricht' }).count()).toBe(0);
    expect(await accessibilityFaults(ben)).toEqual([]);
    await ben.getByRole('link', { name: 'Entwürfe' }).click();
    await ben.locator('.row', { hasText: 'Entwurf von Mia' }).waitFor();
    await mia.close();
    await ben.goto(`/t/${threadId}`);
    await ben.getByRole('button', { name: 'Übernehmen' }).click();
    await expect
      .poll(() => ben.getByRole('textbox', { name: 'Nachricht' }).innerText())
      .toContain('Ten euros.');
    expect(await drafts()).toMatchObject([{ author: 'Ben' }]);
  });

  it('lose no text when a tab is killed: neither a saved one nor one that could not be saved', async () => {
    const before = (await drafts()).length;
    const { threadId } = await question('Any news?');
    const mia = await open('Mia', `/t/${threadId}`);
    await answer(mia, 'We are looking. ');
    await expect.poll(async () => (await drafts()).length).toBe(before + 1);
    const [draft] = await drafts();
    // From here on the service can't be reached for drafts.
    await mia.route('**/api/drafts**', (route) => route.abort('internetdisconnected'));
    await mia.getByRole('textbox', { name: 'Nachricht' }).pressSequentially('It takes a week.');
    await mia.goto('chrome://crash').catch(() => undefined);
    expect(await textOf(draft?.id ?? '')).not.toContain('It takes a week.');
    const again = await mia.context().newPage();
    await again.goto(`/t/${threadId}`);
    await again.getByText('Er ist jetzt bei den Entwürfen.').waitFor();
    await expect
      .poll(() => again.getByRole('textbox', { name: 'Nachricht' }).innerText())
      .toContain('We are looking. It takes a week.');
    await expect.poll(() => textOf(draft?.id ?? '')).toContain('We are looking. It takes a week.');
    expect((await drafts()).length).toBe(before + 1);
    expect(await again.evaluate('Object.keys(localStorage).filter((key) => key.includes(".text."))')).toEqual(
      [],
    );
  });

  it('lose no text that was typed right before the tab was closed', async () => {
    const { threadId } = await question('And now?');
    const mia = await open('Mia', `/t/${threadId}`);
    await answer(mia, 'Typed and left.');
    await mia.close({ runBeforeUnload: false });
    const again = await mia.context().newPage();
    await again.goto(`/t/${threadId}`);
    await expect
      .poll(() => again.getByRole('textbox', { name: 'Nachricht' }).innerText())
      .toContain('Typed and left.');
  });

  it('keep a text whose draft another window discarded, and save it again', async () => {
    const { threadId } = await question('Gone elsewhere?');
    const mia = await open('Mia', `/t/${threadId}`);
    await answer(mia, 'Still needed.');
    const id = await draftSaying('Still needed.');
    await mia.getByText('Entwurf gespeichert').waitFor();
    const removed = await running.service.request(`/api/drafts/${id}`, { method: 'DELETE' });
    expect(removed.status).toBe(200);
    const lost = mia.locator('.writer-concerns');
    await lost.getByText('Dieser Entwurf wurde in einem anderen Fenster verworfen.').waitFor();
    expect(await mia.getByRole('textbox', { name: 'Nachricht' }).innerText()).toContain('Still needed.');
    expect(await accessibilityFaults(mia)).toEqual([]);
    await lost.getByRole('button', { name: 'Als neuen Entwurf speichern' }).click();
    expect(await draftSaying('Still needed.')).not.toBe(id);
    await lost.waitFor({ state: 'detached' });
  });

  it('get a discarded draft back, whole', async () => {
    const { threadId } = await question('Discard me?');
    const mia = await open('Mia', `/t/${threadId}`);
    const before = (await drafts()).length;
    await answer(mia, 'Not yet.');
    await mia.getByText('Entwurf gespeichert').waitFor();
    await pressInNotice(mia, 'Rückgängig');
    await mia.getByRole('button', { name: 'Entwurf verwerfen' }).click();
    await expect
      .poll(() => mia.getByRole('textbox', { name: 'Nachricht' }).innerText())
      .toContain('Not yet.');
    expect((await drafts()).length).toBe(before + 1);
    await mia.getByRole('button', { name: 'Entwurf verwerfen' }).click();
    await mia.getByText('Entwurf verworfen').waitFor();
    await mia.goto(`/t/${threadId}`);
    await expect.poll(async () => (await drafts()).length).toBe(before);
    await mia.getByRole('button', { name: 'Antworten', exact: true }).waitFor();
  });
});
