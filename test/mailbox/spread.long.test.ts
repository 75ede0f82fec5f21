/**
 * Services as processes that share the mailboxes of a real Dovecot: one is killed and one is added while mail keeps arriving. The mailboxes
 * are spread evenly, and every message is recorded once.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const USERS = Array.from({ length: 12 }, (_, index) => `user${index}`);
const PASSWORD = 'secret-of-a-test';
/** Emails recorded between two events, so that mail arrives before, while and after mailboxes change hands. */
const SOME = 10;
/** For a machine that is busy with other work. */
const TIMEOUT_MS = 600_000;

describe.skipIf(skipWithoutMailServers())('the mailboxes of several services', () => {
  let database: TestDatabase;
  let dovecot: DovecotServer;
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;
  const services = new Set<ServiceProcess>();
  let over: AbortController;
  let arriving: Promise<void>;

  beforeEach(async () => {
    over = new AbortController();
    arriving = Promise.resolve();
    [database, dovecot, folder] = await Promise.all([
      createTestDatabase(),
      startDovecot({ settings: 'mail_max_userip_connections = 0\n' }),
      makeTempFolder(),
    ]);
    const passwords = USERS.map((user) => `${user}:{PLAIN}${PASSWORD}\n`).join('');
    await appendFile(join(dovecot.root, 'passwords'), passwords);
    const accounts = USERS.map((user) => ({
      id: user,
      from: `${user}@example.test`,
      imap_url: `imap://${user}:${PASSWORD}@127.0.0.1:${dovecot.imapPort}?starttls=off`,
    }));
    await writeFile(join(folder.path, 'accounts.json'), JSON.stringify(accounts));
  });
  afterEach(async () => {
    over.abort();
    await arriving;
    for (const service of services) await disposeService(service);
    services.clear();
    await dovecot.stop();
    await database.drop();
    await folder.remove();
  });

  async function start(): Promise<ServiceProcess> {
    const service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        ACCOUNTS_FILE: join(folder.path, 'accounts.json'),
        IMAP_LEASE_MS: '10000',
        WORK_POLL_MS: '500',
      },
    });
    services.add(service);
    return service;
  }

  /** The number of accounts of each living process, the fewest first. */
  async function shares(): Promise<string> {
    const rows = await query(
      database.connectionString,
      'select count(*)::int as count from mailbox_accounts where lease_until > now() group by owner order by 1',
    );
    return rows.map((row) => String(row['count'])).join(' ');
  }

  async function recorded(): Promise<readonly string[]> {
    const rows = await query(database.connectionString, 'select message_id from emails order by message_id');
    return rows.map((row) => String(row['message_id']));
  }

  it(
    'are spread evenly while one is killed and one comes, and each message is recorded once',
    async () => {
      const appended: string[] = [];
      const clients = USERS.map(
        (user) =>
          new ImapFlow({
            host: '127.0.0.1',
            port: dovecot.imapPort,
            secure: false,
            doSTARTTLS: false,
            auth: { user, pass: PASSWORD },
            logger: false,
          }),
      );
      for (const client of clients) await client.connect();
      /** The next messages arrive once most of the last ones are recorded: as fast as the machine is. */
      const arrive = async () => {
        while (!over.signal.aborted) {
          const client = clients[randomInt(clients.length)];
          const id = randomUUID();
          await client?.append('INBOX', mail({ messageId: `<${id}@customer.test>`, subject: id }));
          appended.push(`${id}@customer.test`);
          const before = appended.length - SOME;
          await waitUntil(
            'most are recorded',
            async () => over.signal.aborted || (await recorded()).length > before,
          );
        }
      };
      const goesOn = async () => {
        const goal = (await recorded()).length + SOME;
        await waitUntil('mail is recorded', async () => (await recorded()).length > goal);
      };

      const [first] = await Promise.all([start(), start(), start()]);
      arriving = arrive();
      await waitUntil('three have the same', async () => (await shares()) === '4 4 4');
      await goesOn();

      services.delete(first);
      await first.kill();
      await waitUntil('two have the same', async () => (await shares()) === '6 6');
      await goesOn();

      await start();
      await waitUntil('three have the same again', async () => (await shares()) === '4 4 4');
      await goesOn();

      over.abort();
      await arriving;
      for (const client of clients) await client.logout();
      await waitUntil('all is recorded', async () => (await recorded()).length >= appended.length);
      // A second message with the same identity would become a variant of one email.
      expect(await recorded()).toEqual(appended.toSorted());
      const [left] = await query(
        database.connectionString,
        `select (select count(*)::int from email_variants) as variants,
        (select count(*)::int from mailbox_messages where quarantined_at is not null) as quarantined`,
      );
      expect(left).toEqual({ variants: 0, quarantined: 0 });
    },
    TIMEOUT_MS,
  );
});
