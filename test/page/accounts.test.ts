/** Accounts in the page: the service as a process, a real Dovecot, a server that sends and wants a log-in, Chromium. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { startDnsServer, type DnsServer } from '../helpers/dns-server.ts';
import { MAIL_USERS } from '../helpers/dovecot-files.ts';
import { startDovecot, type DovecotServer, type DovecotServerOptions } from '../helpers/dovecot-server.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { accessibilityFaults, usePages } from '../helpers/open-page.ts';
import { OPENID_CLIENT, startOpenidProvider, type OpenidProvider } from '../helpers/openid-provider.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import {
  disposeService,
  startServiceProcess,
  TEST_SECRET,
  type ServiceProcess,
} from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

interface ShownAccount {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly from_address: { readonly name: string | null; readonly address: string };
  readonly settings: {
    readonly imap_server: string | null;
    readonly smtp_server: string | null;
    readonly addresses: readonly { readonly address: string; readonly name: string | null }[] | null;
    readonly capture: Readonly<Record<string, unknown>> | null;
  };
}

const PUBLIC_URL = 'https://mail.example.test';
const PHONE = { viewport: { width: 390, height: 800 }, locale: 'en-GB' };
const ALICE = MAIL_USERS.alice.password;

const rawMail = (subject: string, fields: readonly string[] = []): string =>
  [
    'From: Ann <ann@customer.test>',
    'To: alice@example.test',
    `Subject: ${subject}`,
    `Message-ID: <${subject.toLowerCase().replaceAll(' ', '-')}@customer.test>`,
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    ...fields,
    '',
    'Hello',
    '',
  ].join('\r\n');

/** Dovecot also takes the tokens of a provider. */
const withTokensOf = ({ introspectionUrl }: OpenidProvider): DovecotServerOptions => ({
  settings: `
auth_mechanisms = plain xoauth2
auth_cache_size = 0
passdb {
  driver = oauth2
  mechanisms = xoauth2
  args = {root}/oauth2.conf
}
`,
  files: {
    'oauth2.conf': `
introspection_url = ${introspectionUrl}
introspection_mode = get
username_attribute = username
active_attribute = active
active_value = true
`,
  },
});

const skips = [skipWithoutChromium(), skipWithoutMailServers()];

describe.skipIf(skips.includes(true))('the accounts in the page', () => {
  const pages = usePages();
  let database: TestDatabase;
  let dns: DnsServer;
  let dovecot: DovecotServer;
  let sink: SmtpSink;
  let provider: OpenidProvider;
  let service: ServiceProcess;
  const arriving: Promise<unknown>[] = [];
  beforeAll(async () => {
    provider = await startOpenidProvider(`${PUBLIC_URL}/oauth2/callback`);
    [database, dns, dovecot, sink] = await Promise.all([
      createTestDatabase(),
      startDnsServer(),
      startDovecot(withTokensOf(provider)),
      startSmtpSink(
        {
          authOptional: false,
          disabledCommands: ['STARTTLS'],
          allowInsecureAuth: true,
          onAuth: ({ username, password }, _session, callback) =>
            username === 'alice' && password === ALICE
              ? callback(null, { user: 'alice' })
              : callback(new Error('no')),
        },
        // What is sent arrives in the mailbox, as at a provider.
        ({ raw }) => {
          arriving.push(dovecot.withClient('alice', (client) => client.append('INBOX', raw)));
        },
      ),
    ]);
    await dovecot.withClient('alice', async (client) => {
      await client.mailboxCreate('Sent');
      await client.mailboxCreate('Projects');
      await client.append('INBOX', rawMail('Order'));
      await client.append('INBOX', rawMail('Holiday', ['Sensitivity: Private']));
      await client.append('Projects', rawMail('Plan'));
    });
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        DNS_SERVERS: dns.address,
        PUBLIC_URL,
        GOOGLE_CLIENT_ID: 'the-client',
        GOOGLE_CLIENT_SECRET: 'the-secret-of-the-client',
        IMAP_POLL_MS: '1000',
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await Promise.all(arriving);
    await Promise.all([sink.stop(), dovecot.stop(), dns.stop(), provider.close()]);
    await database.drop();
  });

  const read = (id: string) => getJson<ShownAccount>(service, `/api/accounts/${id}`);
  const statusOf = async (id: string) => (await service.request(`/api/accounts/${id}`)).status;
  const portOf = (url: string): string => new URL(url).port;
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const press = (page: Page, name: string | RegExp) =>
    dialogOf(page).getByRole('button', { name, exact: true }).click();
  const create = async (id: string, fields: object = {}) => {
    const response = await service.request('/api/accounts', {
      json: {
        id,
        from: `${id}@example.test`,
        imap_url: dovecot.urlOf('alice'),
        smtp_url: `smtp://alice:${encodeURIComponent(ALICE)}@127.0.0.1:${portOf(sink.url)}`,
        ...fields,
      },
    });
    expect(response.status).toBe(201);
  };
  const shots = process.env['SHOTS'];
  const shot = async (page: Page, name: string): Promise<void> => {
    if (shots === undefined) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${name}.png` });
  };

  /** By hand, as someone with the data of an administrator does. */
  async function typeServers(page: Page, password: string): Promise<void> {
    const dialog = dialogOf(page);
    await dialog.getByLabel('User name', { exact: true }).fill('alice');
    await dialog.getByLabel('Password', { exact: true }).fill(password);
    const reading = dialog.getByRole('group', { name: 'Reading mail (IMAP)' });
    await reading.getByLabel('Encryption').selectOption('None');
    await reading.getByLabel('Server').fill('127.0.0.1');
    await reading.getByLabel('Port').fill(String(dovecot.imapPort));
    const sending = dialog.getByRole('group', { name: 'Sending mail (SMTP)' });
    await sending.getByLabel('Encryption').selectOption('None');
    await sending.getByLabel('Server').fill('127.0.0.1');
    await sending.getByLabel('Port').fill(portOf(sink.url));
  }

  it.each([
    { look: 'desktop', id: 'alice', options: { viewport: { width: 1280, height: 860 }, locale: 'en-GB' } },
    { look: 'phone-dark', id: 'alice-example', options: { ...PHONE, colorScheme: 'dark' } },
  ] as const)(
    'connects a mailbox by hand: a wrong password, its repair, what is recorded: $look',
    async ({ look, id, options }) => {
      const page = await pages.open(service.url, '/operate/accounts', undefined, options);
      const addresses: string[] = [];
      page.on('request', (request) => addresses.push(request.url()));
      await page.getByRole('button', { name: 'Connect a mailbox' }).click();
      const dialog = dialogOf(page);
      const focused = () => page.evaluate<string | null>('document.activeElement?.getAttribute("name")');

      await expect.poll(focused).toBe('address');
      await press(page, 'Look up settings');
      await dialog.getByText('Please fill this in.').waitFor();
      await dialog.getByLabel('Email address').fill('alice');
      await press(page, 'Look up settings');
      await expect.poll(() => dialog.locator('.field-error').allTextContents()).not.toEqual([]);
      await dialog.getByLabel('Email address').fill('alice@example.test');
      await dialog.getByLabel('Name that recipients see').fill('Alice "A" Example');
      await shot(page, `${look}-1-address`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await press(page, 'Look up settings');
      await dialog.getByText('No settings were found for this address.').waitFor();

      await typeServers(page, 'wrong-password');
      await shot(page, `${look}-2-server`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await press(page, 'Check');
      await dialog.getByText('Something does not work yet.').waitFor();
      const reading = dialog.locator('.check-step', { hasText: 'Reading mail' });
      expect(await reading.getAttribute('data-grade')).toBe('problem');
      await reading.getByText('The server refuses the user name or the password.').waitFor();
      await shot(page, `${look}-3-check-wrong`);
      expect(await accessibilityFaults(page)).toEqual([]);

      // Back and forth: nothing that was typed is lost.
      await press(page, 'Correct it');
      await expect.poll(focused).toBe('password');
      await press(page, 'Back');
      await expect.poll(() => dialog.getByLabel('Email address').inputValue()).toBe('alice@example.test');
      await press(page, 'Look up settings');
      await expect
        .poll(() => dialog.getByLabel('Password', { exact: true }).inputValue())
        .toBe('wrong-password');
      await dialog.getByLabel('Password', { exact: true }).fill(ALICE);
      await press(page, 'Check');
      await dialog.getByText('The mailbox can be connected.').waitFor();
      await dialog.getByText('Also send a test message').click();
      await press(page, 'Check again');
      await dialog.getByText('It was sent and arrived.').waitFor();
      await shot(page, `${look}-3-check`);
      await press(page, 'Continue');

      await dialog.getByText('Projects', { exact: true }).click();
      await dialog.getByLabel('Never record mail from').fill('no address');
      await expect.poll(() => dialog.getByLabel('Short name of the account').inputValue()).toBe(id);
      await press(page, 'Connect');
      await dialog.getByText('Each line needs an address').waitFor();
      await expect.poll(focused).toBe('neverAddresses');
      await dialog.getByLabel('Never record mail from').fill('*@bank.test');
      await shot(page, `${look}-4-capture`);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      await press(page, 'Connect');

      await dialog.getByText('Everything is read.').waitFor();
      await dialog.getByText('alice@example.test is connected').waitFor();
      await shot(page, `${look}-5-done`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await press(page, 'Done');

      const account = await read(id);
      expect(account.from_address).toEqual({ name: 'Alice "A" Example', address: 'alice@example.test' });
      expect(account.settings.imap_server).toBe(`imap://127.0.0.1:${dovecot.imapPort}?starttls=off`);
      expect(account.settings.capture).toMatchObject({
        folders: ['Projects'],
        never_addresses: ['*@bank.test'],
        leave_out_private: true,
        internal_domains: null,
      });

      const card = page.locator('li.card', { hasText: `· ${id}` });
      await card.getByText('Working').waitFor();
      await card.getByText('1 private').waitFor();
      await shot(page, `${look}-6-card`);

      // The password is in no address and in no storage of the browser.
      const secrets = [ALICE, encodeURIComponent(ALICE)];
      const has = (text: string): boolean => secrets.some((secret) => text.includes(secret));
      expect(addresses.filter(has)).toEqual([]);
      const stored = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])',
      );
      expect(has(stored)).toBe(false);
    },
  );

  it('takes settings that were found, and hands out the link for a consent', async () => {
    const page = await pages.open(service.url, '/operate/accounts');
    await page.getByRole('button', { name: 'Connect a mailbox' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Email address').fill('shop.orders@gmail.com');
    await press(page, 'Look up settings');
    await dialog.getByText('imap.gmail.com').waitFor();
    await dialog.getByText('the owner of the mailbox signs in at Google').waitFor();
    await shot(page, 'consent-2-server');
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Check');
    await dialog.getByText('first the owner of the mailbox has to consent').waitFor();
    await shot(page, 'consent-3-check');
    await press(page, 'Continue');
    await press(page, 'Connect');
    await dialog.getByText('one step is left').waitFor();
    const link = dialog.getByRole('link', { name: 'Go to the provider' });
    await expect
      .poll(() => link.getAttribute('href'))
      .toMatch(/^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/);
    await shot(page, 'consent-5-done');
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Done');
    await page.locator('li.card', { hasText: 'shop-orders' }).getByText('No access').waitFor();
  });

  it('reads a mailbox as soon as its owner has consented at an OpenID provider', async () => {
    const page = await pages.open(service.url, '/operate/accounts');
    await page.getByRole('button', { name: 'Connect a mailbox' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Email address').fill('consent@example.test');
    await press(page, 'Enter them by hand');
    await dialog.getByLabel('How to log in').selectOption('Consent at another provider (OpenID)');
    await dialog.getByLabel('User name', { exact: true }).fill('alice');
    await dialog.getByLabel('Address of the OpenID provider').fill(provider.issuer);
    await dialog.getByLabel('Client ID').fill(OPENID_CLIENT.id);
    await dialog.getByLabel('Client secret').fill(OPENID_CLIENT.secret);
    const reading = dialog.getByRole('group', { name: 'Reading mail (IMAP)' });
    await reading.getByLabel('Encryption').selectOption('None');
    await reading.getByLabel('Server').fill('127.0.0.1');
    await reading.getByLabel('Port').fill(String(dovecot.imapPort));
    await shot(page, 'openid-2-server');
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Check');
    await dialog.getByText('first the owner of the mailbox has to consent').waitFor();
    await press(page, 'Continue');
    await press(page, 'Connect');
    const link = dialog.getByRole('link', { name: 'Go to the provider' });
    const url = (await link.getAttribute('href')) ?? '';
    expect(url.startsWith(provider.issuer)).toBe(true);
    // The owner's browser comes back from the provider.
    const { search } = await provider.consent(url, 'alice');
    const answer = await fetch(`${service.url}/oauth2/callback${search}`, { redirect: 'manual' });
    expect(answer.status).toBe(200);
    await dialog.getByText('Everything is read.').waitFor();
    await press(page, 'Done');
    await page.locator('li.card', { hasText: 'consent@example.test' }).getByText('Working').waitFor();
  });

  it('names the application that is missing at a provider, in German and dark', async () => {
    const page = await pages.open(service.url, '/operate/accounts', undefined, {
      viewport: { width: 1280, height: 860 },
      locale: 'de-DE',
      colorScheme: 'dark',
    });
    await page.getByRole('button', { name: 'Postfach verbinden' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('E-Mail-Adresse').fill('bob@outlook.com');
    await press(page, 'Einstellungen suchen');
    await dialog.getByText('outlook.office365.com').waitFor();
    await press(page, 'Prüfen');
    await dialog.getByText('Dieser Dienst hat noch keine Anwendung bei Microsoft.').waitFor();
    await shot(page, 'german-dark-2-server');
    expect(await accessibilityFaults(page)).toEqual([]);
    await expect
      .poll(() => page.evaluate<string | null>('document.activeElement?.getAttribute("name")'))
      .toBe('clientId');
  });

  it('connects a mailbox although its check fails, when the operator says so', async () => {
    const page = await pages.open(service.url, '/operate/accounts', undefined, PHONE);
    await page.getByRole('button', { name: 'Connect a mailbox' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Email address').fill('later@example.test');
    await press(page, 'Enter them by hand');
    await dialog.getByLabel('User name', { exact: true }).waitFor();
    await press(page, 'Check');
    await dialog.getByText('Enter a server for reading or for sending.').waitFor();
    const reading = dialog.getByRole('group', { name: 'Reading mail (IMAP)' });
    await reading.getByLabel('Server').fill('127.0.0.1');
    await reading.getByLabel('Port').fill('1');
    await dialog.getByLabel('Password', { exact: true }).fill('not-yet-known');
    await press(page, 'Check');
    await dialog.getByText('The server does not answer.').waitFor();
    await shot(page, 'phone-light-3-check');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await statusOf('later')).toBe(404);
    await press(page, 'Continue anyway');
    await press(page, 'Connect');
    await dialog.getByText('Reading does not work yet.').waitFor();
    await shot(page, 'phone-light-5-failing');
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Done');
    await page
      .locator('li.card', { hasText: 'later@example.test' })
      .getByRole('button', { name: 'Change the servers' })
      .waitFor();
  });

  it('repairs an account whose password was changed', async () => {
    await create('repair', {
      from: 'Repair <repair@example.test>',
      imap_url: dovecot.urlOf('alice').replace(encodeURIComponent(ALICE), 'old-password'),
    });
    const page = await pages.open(service.url, '/operate/accounts');
    const card = page.locator('li.card', { hasText: 'repair@example.test' });
    await card.getByText('Failing').waitFor();
    await card.getByText('The mail server refused the user name or the password.').waitFor();
    await shot(page, 'repair-1-card');
    expect(await accessibilityFaults(page)).toEqual([]);
    await card.getByRole('button', { name: 'Enter a new password' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('User name', { exact: true }).fill('alice');
    const password = dialog.getByLabel('Password', { exact: true });
    // A browser would fill in the secret of the operator otherwise.
    expect(await password.getAttribute('autocomplete')).toBe('new-password');
    await password.fill('wrong-again');
    await press(page, 'Check and save');
    await dialog.getByText('The server refuses the user name or the password.').first().waitFor();
    await shot(page, 'repair-2-wrong');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await read('repair')).version).toBe(1);
    await dialog.getByLabel('Password', { exact: true }).fill(ALICE);
    await press(page, 'Check and save');
    await dialog.waitFor({ state: 'detached' });
    await card.getByText('Working').waitFor();
    expect((await read('repair')).version).toBe(2);
  });

  it('saves nothing of a check that was cancelled, or whose values were changed, while it ran', async () => {
    await create('cancelled', {
      imap_url: dovecot.urlOf('alice').replace(encodeURIComponent(ALICE), 'old-password'),
    });
    const page = await pages.open(service.url, '/operate/accounts');
    const dialog = dialogOf(page);
    const answered = (): void => undefined;
    let answer = answered;
    await page.route('**/api/accounts/check*', async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    const check = async (): Promise<void> => {
      await page.getByRole('button', { name: 'More: cancelled' }).click();
      await page.getByRole('menuitem', { name: 'Password and servers' }).click();
      await dialog.getByLabel('User name', { exact: true }).fill('alice');
      await dialog.getByLabel('Password', { exact: true }).fill(ALICE);
      await press(page, 'Check and save');
      await expect.poll(() => answer).not.toBe(answered);
    };
    const finish = async (): Promise<void> => {
      const response = page.waitForResponse('**/api/accounts/check*');
      answer();
      answer = answered;
      await (await response).finished();
      // A save would be on its way by now.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
      expect((await read('cancelled')).version).toBe(1);
    };
    await check();
    await press(page, 'Cancel');
    await dialog.waitFor({ state: 'detached' });
    await finish();
    await check();
    await dialog.getByLabel('Password', { exact: true }).fill('another');
    await finish();
    expect(await dialog.getByLabel('Password', { exact: true }).inputValue()).toBe('another');
  });

  it('pauses, resumes and deletes an account', async () => {
    await create('brief', { from: 'brief@example.test', imap_url: null });
    const page = await pages.open(service.url, '/operate/accounts');
    const card = page.locator('li.card', { hasText: 'brief@example.test' });
    await card.getByText('Sends only').waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText(/^Paused since/).waitFor();
    expect((await read('brief')).state).toBe('paused');
    await card.getByRole('button', { name: 'Resume' }).click();
    await card.getByText('Sends only').waitFor();
    expect((await read('brief')).state).toBe('active');

    await card.getByRole('button', { name: 'More: brief' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = dialogOf(page);
    await expect.poll(() => page.evaluate('document.activeElement?.className')).toBe('step-lead');
    // Of someone who opened it by the keyboard, and pressed once too often.
    await page.keyboard.press('Enter');
    await dialog.getByText('Erase it', { exact: true }).click();
    await dialog.getByText('0 emails with their files').waitFor();
    await press(page, 'Delete it and erase its mail');
    await dialog.getByText('This is not the short name of the account.').waitFor();
    await shot(page, 'delete');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await statusOf('brief')).toBe(200);
    await dialog.getByLabel('To confirm').fill('brief');
    // Nothing of it waits for the network.
    await page.context().setOffline(true);
    await press(page, 'Delete it and erase its mail');
    await dialog.getByText('The service did not answer.').waitFor();
    await page.context().setOffline(false);
    expect(await statusOf('brief')).toBe(200);
    await press(page, 'Delete it and erase its mail');
    await dialog.waitFor({ state: 'detached' });
    await card.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement?.id')).toBe('list');
    expect(await statusOf('brief')).toBe(404);
  });

  it('keeps what was typed when a colleague changes the account meanwhile', async () => {
    await create('edited', { from: 'Old <edited@example.test>' });
    const change = async (fields: object) => {
      const { version } = await read('edited');
      const response = await service.request('/api/accounts/edited', {
        method: 'PATCH',
        headers: { 'If-Match': `"${version}"` },
        json: fields,
      });
      expect(response.status).toBe(200);
    };
    const page = await pages.open(service.url, '/operate/accounts');
    const card = page.locator('li.card', { hasText: 'edited@example.test' });
    await card.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name that recipients see').fill('Mine');
    await press(page, 'Add an address');
    await dialog.getByLabel('Address 1', { exact: true }).fill('offers@example.test');
    await dialog.getByText('Mail without a known customer').click();
    await shot(page, 'edit-1');
    expect(await accessibilityFaults(page)).toEqual([]);

    // Other settings: both changes stay.
    await change({ capture: { never_subjects: ['payslip'] } });
    await press(page, 'Save');
    await dialog.waitFor({ state: 'detached' });
    const both = await read('edited');
    expect(both.from_address.name).toBe('Mine');
    expect(both.settings.addresses).toMatchObject([{ address: 'offers@example.test' }]);
    expect(both.settings.capture).toMatchObject({ never_subjects: ['payslip'], only_customers: true });

    // The same setting: the operator decides, and nothing typed is lost.
    await card.getByRole('button', { name: 'Edit', exact: true }).click();
    await expect.poll(() => dialog.getByLabel('Name that recipients see').inputValue()).toBe('Mine');
    await dialog.getByLabel('Name that recipients see').fill('Mine again');
    await change({ from: 'Theirs <edited@example.test>' });
    await press(page, 'Save');
    await dialog.getByText('now: Theirs').waitFor();
    await expect.poll(() => dialog.getByLabel('Name that recipients see').inputValue()).toBe('Mine again');
    await shot(page, 'edit-2-conflict');
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Save mine');
    await dialog.waitFor({ state: 'detached' });
    expect((await read('edited')).from_address.name).toBe('Mine again');
  });

  it('says why an email was left out', async () => {
    await create('rules', { capture: { leave_out_private: true } });
    const page = await pages.open(service.url, '/operate/accounts');
    const card = page.locator('li.card', { hasText: 'rules@example.test' });
    await card.getByText('1 private').waitFor();
    await card.getByRole('button', { name: 'Why is this mail not here?' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Message-ID').fill('<holiday@customer.test>');
    await press(page, 'Look it up');
    await dialog.getByText('Left out because its sender marked it as private. Folder INBOX').waitFor();
    await shot(page, 'left-out');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByLabel('Message-ID').fill('order@customer.test');
    await press(page, 'Look it up');
    await dialog.getByText('It was not left out by a rule').waitFor();
  });

  it.each([
    { rights: ['read'], offered: [] },
    { rights: ['read', 'operate'], offered: ['Pause'] },
  ] as const)('offers what the rights $rights allow, and nothing for declared accounts', async (row) => {
    const id = `rights-${row.rights.length}`;
    await create(id, { imap_url: null });
    const made = await service.request('/api/keys', {
      json: { name: id, rights: row.rights, account_ids: '*' },
    });
    const { secret } = (await made.json()) as { secret: string };
    const page = await pages.open(service.url, '/operate/accounts', secret);
    const card = page.locator('li.card', { hasText: `${id}@example.test` });
    await card.getByText('Sends only').waitFor();
    expect(await card.getByRole('button').allTextContents()).toEqual(row.offered);
    expect(await page.getByRole('button', { name: 'Connect a mailbox' }).count()).toBe(0);

    const admin = await pages.open(service.url, '/operate/accounts', TEST_SECRET);
    const declared = admin.locator('li.card', { hasText: '· default' });
    await declared.getByText('set up in the configuration').waitFor();
    expect(await declared.getByRole('button').count()).toBe(0);
    await admin.getByRole('button', { name: 'Connect a mailbox' }).waitFor();
  });

  it('lets a key that is limited to an account change that account, without a check', async () => {
    await create('limited', { imap_url: null });
    const made = await service.request('/api/keys', {
      json: { name: 'limited', rights: ['admin'], account_ids: ['limited'] },
    });
    const { secret } = (await made.json()) as { secret: string };
    const page = await pages.open(service.url, '/operate/accounts', secret);
    const card = page.locator('li.card', { hasText: 'limited@example.test' });
    await card.getByRole('button', { name: 'More: limited' }).click();
    await page.getByRole('menuitem', { name: 'Password and servers' }).click();
    const dialog = dialogOf(page);
    expect(await page.getByRole('button', { name: 'Connect a mailbox' }).count()).toBe(0);
    await dialog.getByLabel('User name', { exact: true }).fill('alice');
    await dialog.getByLabel('Password', { exact: true }).fill('another');
    await press(page, 'Save');
    await dialog.waitFor({ state: 'detached' });
    expect((await read('limited')).version).toBe(2);
  });
});
