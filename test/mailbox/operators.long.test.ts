/** Operators' view of mailboxes, and their actions: the service and commands as processes, a real Dovecot. */
import { chmod, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { letTimePass, readEmails, waitForPass } from '../helpers/mailbox-rows.ts';
import { fillMaildir } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const numbered = (number: number) =>
  mail({ messageId: `<${number}@customer.test>`, subject: `Nr. ${number}` });

interface AccountJson {
  readonly id: string;
  readonly mailboxes: readonly { readonly path: string; readonly counts: Record<string, number> }[];
}

interface QuarantineJson {
  readonly messages: readonly { readonly id: string; readonly uid: number; readonly reason: string }[];
  readonly next_cursor: string | null;
}

describe.skipIf(skipWithoutMailServers())('mailboxes of a Dovecot', () => {
  let database: TestDatabase;
  let dovecot: DovecotServer;
  let service: ServiceProcess;
  let env: Readonly<Record<string, string>>;

  const read = async (target: string) => {
    const response = await service.request(target);
    expect(response.status).toBe(200);
    return (await response.json()) as unknown;
  };
  const quarantine = async (target = '/api/quarantine') => (await read(target)) as QuarantineJson;
  const inbox = async () => {
    const { accounts } = (await read('/api/accounts')) as { accounts: readonly AccountJson[] };
    return accounts[0]?.mailboxes.find(({ path: name }) => name === 'INBOX');
  };

  beforeAll(async () => {
    [database, dovecot] = await Promise.all([createTestDatabase(), startDovecot()]);
    await fillMaildir(
      dovecot,
      'alice',
      null,
      Array.from({ length: 20 }, (_, index) => numbered(index + 1)),
    );
    // Two messages that Dovecot cannot read, so that it ends the session.
    const cur = path.join(dovecot.root, 'mail', 'alice', 'cur');
    const files = (await readdir(cur)).sort();
    for (const index of [4, 12]) await chmod(path.join(cur, files[index]!), 0);
    env = {
      DATABASE_URL: database.connectionString,
      IMAP_URL: dovecot.urlOf('alice'),
      IMAP_LEASE_MS: '1500',
      IMAP_POLL_MS: '1000',
    };
    service = await startServiceProcess({ env });
  });
  afterAll(async () => {
    await disposeService(service);
    await dovecot.stop();
    await database.drop();
  });

  it('have unreadable messages set aside, and taken when they can be read', async () => {
    await waitUntil('both are set aside', async () => {
      await letTimePass(database);
      return (await inbox())?.counts['quarantined'] === 2;
    });
    await waitForPass(database, 'default');
    expect(await readEmails(database, 'default')).toHaveLength(18);
    expect(await read('/api/accounts')).toMatchObject({
      accounts: [
        {
          id: 'default',
          from_address: { name: 'email-worker', address: 'noreply@localhost' },
          has_mailbox: true,
          owned_here: true,
          warning: null,
          last_error: { kind: 'connection' },
          mailboxes: [
            {
              path: 'INBOX',
              special_use: '\\Inbox',
              left_at: null,
              counts: { messages: 20, recorded: 18, remaining: 0, quarantined: 2, expunged: 0 },
            },
          ],
        },
      ],
    });

    const { messages } = await quarantine();
    expect(messages.map(({ uid }) => uid).sort((a, b) => a - b)).toEqual([5, 13]);
    const first = await quarantine('/api/quarantine?limit=1');
    expect(first.messages).toEqual([messages[0]]);
    const second = await quarantine(`/api/quarantine?limit=1&account_id=default&cursor=${first.next_cursor}`);
    expect(second).toEqual({ messages: [messages[1]], next_cursor: null });
    expect((await service.request('/api/quarantine?account_id=other')).status).toBe(400);

    const cur = path.join(dovecot.root, 'mail', 'alice', 'cur');
    for (const file of await readdir(cur)) await chmod(path.join(cur, file), 0o644);
    for (const { id } of messages) {
      const response = await service.request(`/api/quarantine/${id}/retry`, { method: 'POST' });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id });
    }
    await waitUntil('both are there', async () => (await readEmails(database, 'default')).length === 20);
    await waitUntil('nothing is set aside', async () => (await quarantine()).messages.length === 0);
    const again = await service.request(`/api/quarantine/${messages[0]!.id}/retry`, { method: 'POST' });
    expect(again.status).toBe(404);
    expect(await again.json()).toMatchObject({ code: 'quarantined_not_found' });
  }, 240_000);

  it('are compared with the record, which is repaired', async () => {
    const audit = (...options: readonly string[]) =>
      runCommandInProcess(['audit', ...options], { dataDir: service.dataDir, env });
    expect(await audit()).toMatchObject({
      exitCode: 0,
      stdout: 'default INBOX: 20 messages, 0 to be taken, 0 set aside; no differences\n',
    });

    const run = (text: string) => query(database.connectionString, text);
    await run(`delete from emails where message_id in ('3@customer.test', '4@customer.test')`);
    await run(`delete from mailbox_messages where uid in (6, 7, 8)`);
    await run(`update mailbox_messages set expunged_at = now() where uid = 9`);
    await run(
      `update mailbox_messages set email_id = (select email_id from mailbox_messages where uid = 11) where uid = 10`,
    );
    await run(
      `insert into mailbox_messages (mailbox_id, uid_validity, uid, email_id)
       select mailbox_id, uid_validity, 4000000000, email_id from mailbox_messages where uid = 11`,
    );
    const [{ email_id: emailOf11 } = {}] = await run(`select email_id from mailbox_messages where uid = 11`);
    const differences = (repaired: string) =>
      [
        'default INBOX: 20 messages, 0 to be taken, 0 set aside; differences:',
        `  3 not known${repaired}: UID 6, 7, 8`,
        `  2 without their recorded email${repaired}: UID 3, 4`,
        `  1 with the email of another Message-ID${repaired}: UID 10 (email ${emailOf11})`,
        `  1 there, but marked as gone${repaired}: UID 9`,
        `  1 gone, but not marked${repaired}: UID 4000000000`,
        '',
      ].join('\n');
    expect(await audit()).toMatchObject({ exitCode: 1, stdout: differences('') });
    expect(await audit('--repair', '--account', 'default')).toMatchObject({
      // A wrongly recorded email shows up only after the message was taken again.
      exitCode: 1,
      stdout: differences(', repaired').replace(
        'Message-ID, repaired',
        'Message-ID, taken again; run audit once more then, and reparse --email <id> for those that it still names',
      ),
    });
    await waitUntil('all are there', async () => (await readEmails(database, 'default')).length === 20);
    await waitForPass(database, 'default');
    expect(await audit()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('; no differences') });
    expect((await inbox())?.counts).toMatchObject({
      messages: 21,
      recorded: 21,
      remaining: 0,
      quarantined: 0,
      expunged: 1,
    });
    expect(await audit('--account', 'nobody')).toMatchObject({ exitCode: 2 });

    // If the email itself is recorded wrongly, the next audit still names it.
    await run(`update emails set message_id = 'wrong@customer.test' where message_id = '15@customer.test'`);
    expect(await audit('--repair')).toMatchObject({ exitCode: 1 });
    await waitForPass(database, 'default');
    const named = await audit();
    expect(named.exitCode).toBe(1);
    const [, emailId = ''] = /another Message-ID: UID \d+ \(email ([0-9a-f-]{36})\)/.exec(named.stdout) ?? [];
    await runCommandInProcess(['reparse', '--email', emailId], { dataDir: service.dataDir, env });
    expect(await audit()).toMatchObject({ exitCode: 0 });
  }, 240_000);
});
