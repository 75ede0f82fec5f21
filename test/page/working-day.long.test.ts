/**
 * A working day in the page, with mail through Postfix and Dovecot: a clerk in one window, a colleague in a second one, and an operator.
 */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutChromium } from '../helpers/chromium.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { pressInNotice, usePages } from '../helpers/open-page.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { fetchByMessageId } from '../helpers/read-mailbox.ts';
import { getJson } from '../helpers/running-service.ts';
import { CLOSE, startScriptedServer, type ScriptedServer } from '../helpers/scripted-smtp-server.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

const OFFER = { name: 'offer.txt', mimeType: 'text/plain', buffer: Buffer.from('ten euros') };
/** Mail takes some seconds through Postfix, Dovecot and the mailbox reader, and longer on a busy machine. */
const BY_MAIL = { timeout: 90_000 };
/** Everything that a clerk does, one step after the other. */
const DAY_MS = 300_000;

interface Listing {
  readonly id: string;
  readonly message_id: string;
  readonly subject: string;
}

describe.skipIf(skipWithoutChromium() || skipWithoutMailServers())('a working day', () => {
  const pages = usePages();
  let folder: TempFolder;
  let database: TestDatabase;
  let servers: MailServers;
  let lost: ScriptedServer;
  let service: ServiceProcess;

  beforeAll(async () => {
    [folder, database, servers, lost] = await Promise.all([
      makeTempFolder(),
      createTestDatabase(),
      startMailServers(),
      // Accepts no message: the connection breaks after each one.
      startScriptedServer({ script: { dot: () => CLOSE } }),
    ]);
    const { password } = servers.users.alice;
    const accounts = path.join(folder.path, 'accounts.json');
    await writeFile(
      accounts,
      JSON.stringify([
        {
          id: 'sales',
          from: 'Sales <alice@example.test>',
          smtp_url: `smtp://127.0.0.1:${servers.smtpPort}?tls_verify=false`,
          imap_url: `imap://alice:${encodeURIComponent(password)}@127.0.0.1:${servers.imapPort}?starttls=off`,
        },
        { id: 'old', from: 'Old <old@example.test>', smtp_url: `smtp://127.0.0.1:${lost.port}` },
      ]),
    );
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: accounts,
        IMAP_POLL_MS: '1000',
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await Promise.all([servers.stop(), lost.close()]);
    await database.drop();
    await folder.remove();
  });

  /** Sends from the customer's own mail program. */
  async function customerWrites(subject: string, text: string, inReplyTo?: string): Promise<void> {
    const transport = createTransport({
      host: '127.0.0.1',
      port: servers.smtpPort,
      secure: false,
      ignoreTLS: true,
    });
    await transport.sendMail({
      from: 'Bob Marlow <bob@example.test>',
      to: 'alice@example.test',
      messageId: `<${randomUUID()}@example.test>`,
      subject,
      text,
      ...(inReplyTo === undefined ? {} : { inReplyTo, references: inReplyTo }),
    });
    transport.close();
  }

  async function sentMail(subject: string): Promise<Listing | undefined> {
    const { emails } = await getJson<{ emails: readonly Listing[] }>(
      service,
      '/api/emails?direction=outbound&state=sent',
    );
    return emails.find((email) => email.subject === subject);
  }

  it(
    'of a clerk: finds and reads by keys alone, answers with a file after taking it back once, and has the customer’s answer live in both windows',
    async () => {
      await customerWrites('Roof windows', 'What do three roof windows cost?');
      const page = await pages.open(service.url, '/');
      const row = page.locator('.row', { hasText: 'Roof windows' });
      await row.waitFor(BY_MAIL);
      const colleague = await pages.open(service.url, '/');
      await colleague.locator('.row', { hasText: 'Roof windows' }).waitFor();

      // Searching. A new email is found a moment after it came.
      await expect
        .poll(
          async () =>
            (await getJson<{ threads: unknown[] }>(service, '/api/threads?from=marlow')).threads.length,
          BY_MAIL,
        )
        .toBe(1);
      await page.keyboard.press('/');
      await page.keyboard.type('windows from:marlow');
      await page.locator('.row mark', { hasText: 'windows' }).first().waitFor();

      // Reading, without a mouse.
      await page.keyboard.press('Tab');
      await expect
        .poll(async () => {
          await page.keyboard.press('Tab');
          return page.evaluate(`document.activeElement?.matches('.row-link')`);
        })
        .toBe(true);
      await page.keyboard.press('Enter');
      await page.getByRole('article').getByText('What do three roof').waitFor();

      // Answering with a file, undoing the send, and sending again.
      await page.keyboard.press('r');
      const text = page.getByRole('textbox', { name: 'Message' });
      await text.waitFor();
      await expect
        .poll(() => text.evaluate((field) => field.contains(field.ownerDocument.activeElement)))
        .toBe(true);
      await page.keyboard.type('Please see the attached offer.');
      await page.locator('input[aria-label="Attach files"]').setInputFiles([OFFER]);
      await page.getByRole('button', { name: 'Remove offer.txt' }).waitFor();
      await page.getByText('Draft saved').waitFor();
      await pressInNotice(page, 'Undo');
      await text.press('Control+Enter');
      await page.getByText('Not sent. The draft is open again.').waitFor();
      await text.waitFor();
      await text.press('Control+Enter');
      await expect.poll(() => sentMail('Re: Roof windows'), BY_MAIL).toBeDefined();
      const sent = (await sentMail('Re: Roof windows'))!;
      const received = await simpleParser(await fetchByMessageId(servers, 'bob', sent.message_id));
      expect(received.text).toContain('Please see the attached offer.');
      expect(received.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
        ['offer.txt', 'ten euros'],
      ]);

      // The customer answers, and both windows show it by themselves.
      await colleague.locator('.row', { hasText: 'Roof windows' }).click();
      await colleague.getByRole('article').getByText('Please see the attached offer.').waitFor();
      await customerWrites('Re: Roof windows', 'I take all three of them.', sent.message_id);
      await colleague.getByRole('article').getByText('I take all three of them.').waitFor(BY_MAIL);
      await page.getByRole('article').getByText('I take all three of them.').waitFor(BY_MAIL);
    },
    DAY_MS,
  );

  it(
    'of a clerk: schedules a message, which waits in its folder',
    async () => {
      const page = await pages.open(service.url, '/');
      await page.keyboard.press('c');
      await page.getByRole('combobox', { name: 'To' }).fill('bob@example.test');
      await page.getByRole('textbox', { name: 'Subject' }).fill('Monday reminder');
      await page.getByRole('textbox', { name: 'Message' }).fill('As agreed.');
      await page.getByRole('button', { name: 'Send later' }).click();
      await page.getByRole('button', { name: /^Tomorrow morning/ }).click();
      await page
        .getByText(/^Scheduled for/)
        .first()
        .waitFor();
      await page.goto('/f/scheduled');
      await page.locator('.row', { hasText: 'Monday reminder' }).waitFor();
      const { emails } = await getJson<{ emails: readonly Listing[] }>(service, '/api/emails?state=queued');
      expect(emails.map(({ subject }) => subject)).toEqual(['Monday reminder']);
    },
    DAY_MS,
  );

  it(
    'of an operator: says what became of a send that broke off',
    async () => {
      const response = await service.request('/api/send', {
        json: { to: 'bob@example.test', subject: 'Broken off', text_body: 'Hello', account_id: 'old' },
      });
      expect(response.status).toBe(500);
      const page = await pages.open(service.url, '/f/unknown');
      await page.locator('.row', { hasText: 'Broken off' }).waitFor();
      await page.goto('/operate/accounts');
      await page.locator('.card', { hasText: 'alice@example.test' }).getByText('Working').waitFor();
      await page.goto('/operate/sends');
      await page
        .locator('tr', { hasText: 'Broken off' })
        .getByRole('button', { name: 'It was not sent' })
        .click();
      await page.getByText('Nothing here.').waitFor();
      const { emails } = await getJson<{ emails: readonly Listing[] }>(service, '/api/emails?state=failed');
      expect(emails.map(({ subject }) => subject)).toEqual(['Broken off']);
      await page.goto('/operate/audit');
      await page.locator('tr').nth(1).waitFor();
    },
    DAY_MS,
  );
});
