/**
 * The service as a process, reading a real Dovecot: either is killed at random, and mailboxes change meanwhile. Every message is recorded
 * once. MAILBOX_MESSAGES makes the large mailbox larger.
 */
import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { skipWithoutMailServers } from '../helpers/mail-servers.ts';
import { readCounts, readEmails, waitForPass } from '../helpers/mailbox-rows.ts';
import { fillMaildir, forgetUids } from '../helpers/maildir.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { IS_ALL, IS_LONG } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** More than can be read until the mailbox is looked at again, after two seconds: new mail must come before the rest of them. */
const LARGE = Number(process.env['MAILBOX_MESSAGES'] ?? (IS_ALL ? 8000 : 4000));
/** For a machine that is busy with other work. */
const LARGE_TIMEOUT_MS = 60_000 + LARGE * 60;

let database: TestDatabase;
let dovecot: DovecotServer;
const services = new Set<ServiceProcess>();

const numbered = (number: number, fields = {}) =>
  mail({
    messageId: `<${number}@customer.test>`,
    subject: `Nr. ${number}`,
    to: 'alice@example.test',
    ...fields,
  });
const range = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);
const mails = (first: number, count: number) => range(first, count).map((number) => numbered(number));

async function start(env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<ServiceProcess> {
  const service = await startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      IMAP_URL: dovecot.urlOf('alice'),
      IMAP_LEASE_MS: '1500',
      IMAP_POLL_MS: '1000',
      ...env,
    },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  services.add(service);
  return service;
}

/** As if the machine had failed. */
async function kill(service: ServiceProcess): Promise<void> {
  services.delete(service);
  await service.kill();
}

async function countEmails(): Promise<number> {
  const [row] = await query(database.connectionString, 'select count(*)::int as count from emails');
  return Number(row?.['count']);
}
async function countVariants(): Promise<number> {
  const [row] = await query(database.connectionString, 'select count(*)::int as count from email_variants');
  return Number(row?.['count']);
}
async function readUnread(): Promise<readonly unknown[]> {
  const rows = await query(
    database.connectionString,
    'select message_id from unread_emails u join emails e on e.id = u.email_id order by message_id',
  );
  return rows.map((row) => row['message_id']);
}
const expectEachOnce = async (numbers: readonly number[]) => {
  const ids = (await readEmails(database, 'default')).map(({ message_id }) => message_id);
  expect(ids).toEqual(numbers.map((number) => `${number}@customer.test`).sort());
};

describe.skipIf(skipWithoutMailServers())('the mailboxes of a Dovecot', () => {
  beforeEach(async () => {
    [database, dovecot] = await Promise.all([createTestDatabase(), startDovecot()]);
  });
  afterEach(async () => {
    for (const service of services) await disposeService(service);
    services.clear();
    await dovecot.stop();
    await database.drop();
  });

  it('are read, then watched; what is known is known under new UIDs as well', async () => {
    await fillMaildir(dovecot, 'alice', null, mails(1, 50));
    await fillMaildir(dovecot, 'alice', 'Sent', mails(101, 10));
    const service = await start();
    await waitForPass(database, 'default');
    await expectEachOnce([...range(1, 50), ...range(101, 10)]);
    const sent = (await readEmails(database, 'default')).filter(({ direction }) => direction === 'outbound');
    expect(sent).toHaveLength(10);

    await dovecot.withClient('alice', async (client) => {
      const latencies: number[] = [];
      for (const number of range(201, 5)) {
        const appended = performance.now();
        await client.append('INBOX', numbered(number));
        await waitUntil('it is there', async () => (await countEmails()) === 60 + number - 200);
        latencies.push(Math.round(performance.now() - appended));
      }
      process.stdout.write(`from APPEND to the record: ${latencies.join(', ')} ms\n`);
      await client.mailboxOpen('INBOX');
      await client.messageDelete('1:3', { uid: true });
    });
    await waitUntil('the expunges are noted', async () =>
      (await readCounts(database, 'default')).some(
        ({ path, expunged }) => path === 'INBOX' && expunged === 3,
      ),
    );
    expect(await countEmails()).toBe(65);
    // Mail that was already there counts as read, appended mail does not.
    expect(await readUnread()).toEqual(range(201, 5).map((number) => `${number}@customer.test`));

    await dovecot.kill();
    await forgetUids(dovecot, 'alice');
    await dovecot.start();
    await waitForPass(database, 'default');
    await waitForPass(database, 'default');
    expect(await countEmails()).toBe(65);
    const [row] = await query(
      database.connectionString,
      `select count(distinct uid_validity)::int as generations, count(*)::int as messages
       from mailbox_messages where expunged_at is null and mailbox_id = (select id from mailboxes where path = 'INBOX')`,
    );
    expect(row).toEqual({ generations: 1, messages: 52 });
    expect(await service.stop()).toBe(0);
  });

  it('hold a forged email and the one that it would hide, and a marked copy: two records, each content once', async () => {
    const forged = 'Pay to account 666, as agreed';
    await fillMaildir(dovecot, 'alice', null, [numbered(1, { body: forged })]);
    const service = await start();
    await waitForPass(database, 'default');
    const marked = numbered(1, { body: `${forged}\r\n-- \r\nby the list` });
    for (const raw of [numbered(1, { body: 'Pay to account 123, as agreed' }), marked]) {
      await dovecot.withClient('alice', (client) => client.append('INBOX', raw));
      await waitForPass(database, 'default');
    }
    await waitUntil(
      'both are kept',
      async () => (await countEmails()) === 2 && (await countVariants()) === 1,
    );
    await forgetUids(dovecot, 'alice');
    await waitForPass(database, 'default');
    expect([await countEmails(), await countVariants()]).toEqual([2, 1]);
    const [email] = await query(database.connectionString, 'select email_id as id from email_variants');
    const detail = (await (await service.request(`/api/emails/${String(email?.['id'])}`)).json()) as {
      defects: readonly string[];
      variants: readonly { id: string; received_by: unknown }[];
    };
    expect(detail.defects).toContain('content_differs');
    const [variant] = detail.variants;
    expect(JSON.stringify(variant)).toContain('INBOX');
    const raw = await service.request(`/api/emails/${String(email?.['id'])}/variants/${variant!.id}/raw`);
    expect(await raw.text()).toBe(marked);
    expect(await service.stop()).toBe(0);
  });

  it.runIf(IS_LONG)(
    'are read to the end, however often either side is killed, and messages that go meanwhile are gone',
    async () => {
      const count = 700;
      await fillMaildir(dovecot, 'alice', null, mails(1, count));
      let service = await start();
      const expunged = new Set<number>();
      for (const share of [0.1, 0.3, 0.5, 0.7]) {
        await waitUntil('some are there', async () => (await countEmails()) > count * share);
        // The position where messages are being fetched now.
        const around = count - (await countEmails());
        await dovecot.withClient('alice', async (client) => {
          await client.mailboxOpen('INBOX');
          const uids = [around - randomInt(1, 30), around - randomInt(40, 80)].filter((uid) => uid > 0);
          await client.messageDelete(uids.join(','), { uid: true });
          for (const uid of uids) expunged.add(uid);
        });
        await sleep(randomInt(200));
        if (share === 0.3 || share === 0.7) {
          await dovecot.kill();
          await sleep(randomInt(300));
          await dovecot.start();
        } else {
          await kill(service);
          service = await start({}, service.dataDir);
        }
      }
      await waitForPass(database, 'default');
      const ids = new Set((await readEmails(database, 'default')).map(({ message_id }) => message_id));
      expect(await countEmails()).toBe(ids.size);
      const missing = range(1, count).filter((number) => !ids.has(`${number}@customer.test`));
      expect(missing.filter((uid) => !expunged.has(uid))).toEqual([]);
      const [inbox] = await readCounts(database, 'default');
      expect(inbox).toMatchObject({ waiting: 0, quarantined: 0 });
      expect(inbox?.expunged).toBeLessThanOrEqual(expunged.size);
      expect((inbox?.recorded ?? 0) - (inbox?.expunged ?? 0) + missing.length).toBeLessThanOrEqual(count);
    },
    240_000,
  );

  it('have one reader of two, and another when that is killed', async () => {
    const count = IS_LONG ? 600 : 300;
    await fillMaildir(dovecot, 'alice', null, mails(1, count));
    const nodes = await Promise.all([start(), start()]);
    await waitUntil('some are there', async () => (await countEmails()) > 60);
    const owner = async () => {
      const [row] = await query(database.connectionString, 'select owner from mailbox_accounts');
      return row?.['owner'];
    };
    const first = await owner();
    const owners = await Promise.all(nodes.map(readInstanceId));
    const [victim, heir] = owners[0] === first ? nodes : nodes.toReversed();
    await kill(victim!);
    await waitForPass(database, 'default');
    expect(await owner()).toBe(await readInstanceId(heir!));
    expect(first).not.toBe(await owner());
    await expectEachOnce(range(1, count));
  });

  it('of one account do not wait for another whose password is wrong', async () => {
    await fillMaildir(dovecot, 'bob', null, mails(1, 20));
    const folder = await makeTempFolder();
    const file = join(folder.path, 'accounts.json');
    const accounts = [
      {
        id: 'wrong',
        from: 'alice@example.test',
        imap_url: dovecot.urlOf('alice').replace('alice', 'nobody'),
      },
      { id: 'right', from: 'bob@example.test', imap_url: dovecot.urlOf('bob') },
    ];
    await writeFile(file, JSON.stringify(accounts));
    await start({ ACCOUNTS_FILE: file, IMAP_URL: '' });
    await waitForPass(database, 'right');
    expect(await readEmails(database, 'right')).toHaveLength(20);
    await waitUntil('it is noted', async () => {
      const [row] = await query(
        database.connectionString,
        `select last_error_kind as kind, next_attempt_at > now() + interval '3 minutes' as slow
         from mailbox_accounts where account_id = 'wrong'`,
      );
      return row?.['kind'] === 'credentials' && row['slow'] === true;
    });
    await folder.remove();
  });

  it.runIf(IS_LONG)(
    `are read the newest first, also ${LARGE} messages`,
    async () => {
      await fillMaildir(dovecot, 'alice', null, mails(1, LARGE));
      const begun = performance.now();
      const service = await start({ IMAP_POLL_MS: '60000' });
      const newest = `${LARGE}@customer.test`;
      const isThere = async (id: string) =>
        (await query(database.connectionString, 'select 1 from emails where message_id = $1', [id])).length >
        0;
      await waitUntil('the newest is there', () => isThere(newest));
      const firstMs = performance.now() - begun;
      const arrived = `${LARGE + 1}@customer.test`;
      await dovecot.withClient('alice', (client) => client.append('INBOX', numbered(LARGE + 1)));
      await waitUntil('new mail is there', () => isThere(arrived));
      const before = await countEmails();
      let peak = 0;
      const watch = setInterval(
        () => void readMemory(service).then((mb) => (peak = Math.max(peak, mb))),
        500,
      );
      await waitUntil(
        'all are there',
        async () => {
          await sleep(200);
          return (await countEmails()) > LARGE;
        },
        LARGE_TIMEOUT_MS,
      );
      clearInterval(watch);
      const seconds = (performance.now() - begun) / 1000;
      process.stdout.write(
        `${LARGE} messages in ${seconds.toFixed(1)} s (${Math.round(LARGE / seconds)}/s), the newest after ` +
          `${Math.round(firstMs)} ms, ${Math.round(peak)} MB at most\n`,
      );
      expect(before).toBeLessThan(LARGE);
      await expectEachOnce(range(1, LARGE + 1));
    },
    LARGE_TIMEOUT_MS + 120_000,
  );
});

async function readInstanceId({ dataDir }: ServiceProcess): Promise<string> {
  return (await readFile(join(dataDir, 'instance-id'), 'utf8')).trim();
}

/** Resident memory, in MB. */
async function readMemory({ process: child }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
