/** Rules and recorded mail in the page: the service as a process, Chromium. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

describe.skipIf(skipWithoutChromium())('rules and recorded mail in the page', () => {
  const pages = usePages();
  let database: TestDatabase;
  let service: ServiceProcess;
  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
  });

  /** An account with mail that is recorded as if it had come from its mailbox. */
  async function create(id: string, capture: object): Promise<void> {
    const made = await service.request('/api/accounts', {
      json: { id, from: `${id}@example.test`, imap_url: 'imap://u:p@127.0.0.1:1', capture },
    });
    expect(made.status).toBe(201);
    for (const [from, subject] of [
      ['Bank <post@bank.test>', 'Account statement'],
      ['Bank <post@bank.test>', 'Your new card'],
      ['Ada <ada@customer.test>', 'Order'],
      [
        'Works council <rat@example.test>',
        'Meeting on Monday, with a long subject that does not fit into one line of a phone',
      ],
    ] as const)
      await receive(service, mail({ from, subject }), `?account_id=${id}`);
    await query(
      database.connectionString,
      `update emails set received_by = '{"way":"imap","place":"INBOX"}' where account_id = $1`,
      [id],
    );
    await query(
      database.connectionString,
      `update email_threads set labels = '{finance}' where id = (select thread_id from emails where account_id = $1 and subject = 'Your new card')`,
      [id],
    );
  }
  const emailsOf = async (id: string) =>
    (
      await query(database.connectionString, 'select subject from emails where account_id = $1 order by 1', [
        id,
      ])
    ).map(({ subject }) => String(subject).slice(0, 7));
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const cardOf = (page: Page, id: string) => page.locator('.card', { hasText: `${id}@example.test` });
  const shots = process.env['SHOTS'];
  const shot = async (page: Page, name: string): Promise<void> => {
    if (shots === undefined) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${name}.png` });
  };

  it.each([
    {
      look: 'desktop',
      id: 'ruled-one',
      options: { viewport: { width: 1280, height: 960 }, locale: 'en-GB' },
    },
    {
      look: 'phone-dark',
      id: 'ruled-two',
      options: { viewport: { width: 390, height: 800 }, locale: 'en-GB', colorScheme: 'dark' },
    },
  ] as const)(
    'shows what saved rules leave out, and removes it once the number is typed: $look',
    async ({ look, id, options }) => {
      await create(id, { never_addresses: ['*@bank.test', 'rat@example.test'] });
      const page = await pages.open(service.url, '/operate/accounts', undefined, options);
      await cardOf(page, id)
        .getByRole('button', { name: `More: ${id}` })
        .click();
      await page.getByRole('menuitem', { name: 'Rules and recorded mail' }).click();
      const dialog = dialogOf(page);
      await dialog.getByText(/^2 emails \(.*\) would be removed; 2 threads end with them\.$/).waitFor();
      const rowOf = (name: string) => dialog.getByRole('row', { name: new RegExp(`^${name} \\d`) });
      expect(await rowOf('Left out by address').textContent()).toBe('Left out by address3');
      expect(await rowOf('Kept by the rules').textContent()).toBe('Kept by the rules1');
      await dialog.getByText('Stays: its thread was assigned, labelled or decided on').first().waitFor();
      await shot(page, `${look}-preview`);
      expect(await accessibilityFaults(page)).toEqual([]);

      const remove = dialog.getByRole('button', { name: 'Remove 2 emails' });
      await remove.click();
      await dialog.getByText('This is not the number of emails.').waitFor();
      await dialog.getByLabel('To confirm, type the number of emails: 2').fill('3');
      await remove.click();
      await dialog.getByText('This is not the number of emails.').waitFor();
      expect((await emailsOf(id)).length).toBe(4);
      await dialog.getByLabel('To confirm, type the number of emails: 2').fill('2');
      await shot(page, `${look}-confirm`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await remove.click();
      await dialog.getByText('Done. Removed: 2 emails.').waitFor();
      await shot(page, `${look}-done`);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await emailsOf(id)).toEqual(['Order', 'Your ne']);
    },
  );

  it('shows what rules in the form would leave out, and changes nothing', async () => {
    await create('proposed', { leave_out_private: true });
    const page = await pages.open(service.url, '/operate/accounts');
    await cardOf(page, 'proposed').getByRole('button', { name: 'Edit' }).click();
    const dialog = dialogOf(page);
    const ask = dialog.getByRole('button', { name: 'What would this leave out of recorded mail?' });
    await ask.click();
    await dialog.getByText('None of 4 emails would be removed.').waitFor();
    const addresses = dialog
      .getByLabel('Never record mail', { exact: false })
      .or(dialog.locator('[name=neverAddresses]'))
      .first();
    await addresses.fill('*@bank.test');
    await dialog.getByText('The rules were changed: ask again.').waitFor();
    await ask.click();
    await dialog.getByText(/^1 email \(.*\) would be removed; one thread ends with them\.$/).waitFor();
    await shot(page, 'proposed');
    expect(await accessibilityFaults(page)).toEqual([]);
    await addresses.fill('nonsense');
    await ask.click();
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    expect((await emailsOf('proposed')).length).toBe(4);
  });

  it('removes nothing when the rules were changed since they were looked at', async () => {
    await create('changed', { never_addresses: ['*@bank.test'] });
    const page = await pages.open(service.url, '/operate/accounts');
    await cardOf(page, 'changed').getByRole('button', { name: 'More: changed' }).click();
    await page.getByRole('menuitem', { name: 'Rules and recorded mail' }).click();
    const dialog = dialogOf(page);
    const typed = dialog.getByLabel('To confirm, type the number of emails: 1');
    await typed.fill('1');
    const changed = await service.request('/api/accounts/changed', {
      method: 'PATCH',
      json: { capture: { never_subjects: ['order'] } },
      headers: { 'if-match': '"1"' },
    });
    expect(changed.status).toBe(200);
    await dialog.getByRole('button', { name: 'Remove 1 email', exact: true }).click();
    await dialog.getByText('The account or its mail changed meanwhile. Nothing was removed.').waitFor();
    expect((await emailsOf('changed')).length).toBe(4);
    // By the rules of now.
    await dialog.getByRole('button', { name: 'Look again' }).click();
    await dialog.getByText('Left out by subject').first().waitFor();
    await typed.fill('1');
    await dialog.getByRole('button', { name: 'Remove 1 email', exact: true }).click();
    await dialog.getByText('Done. Removed: 1 email.').waitFor();
    expect((await emailsOf('changed')).includes('Order')).toBe(false);
  });
});
