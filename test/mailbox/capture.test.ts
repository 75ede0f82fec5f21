/** What of a mailbox is recorded, by the rules of its account. Real database, IMAP server in memory. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailboxStatusStore } from '../../src/areas/mailboxes/mailbox-status.ts';
import { MailboxError } from '../../src/areas/mailboxes/mailbox-ports.ts';
import type { MailboxStatusStore } from '../../src/areas/mailboxes/mailbox-status-ports.ts';
import type { CaptureRules } from '../../src/core/mailbox/capture.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { MemoryMailbox } from '../helpers/memory-mail-server.ts';
import { numberedMail, useMailboxWorlds, type MailboxWorld } from '../helpers/mailbox-worlds.ts';
import { createTestPool } from '../helpers/test-pool.ts';

const worlds = useMailboxWorlds();
let pool: pg.Pool;
let status: MailboxStatusStore;

beforeAll(() => {
  pool = createTestPool(worlds.database, 2);
  status = createMailboxStatusStore(pool);
});
afterAll(() => pool.end());

const rules = (some: Partial<CaptureRules>): CaptureRules => ({
  folders: [],
  neverAddresses: [],
  neverSubjects: [],
  internalDomains: [],
  leaveOutPrivate: false,
  onlyCustomers: false,
  ...some,
});
const NOTHING = { address: 0, subject: 0, internal: 0, private: 0, stranger: 0 };

function addMailbox({ server, account }: MailboxWorld, path: string, specialUse: string | null = null) {
  const mailbox = new MemoryMailbox({ path, specialUse });
  server.accounts.get(account)!.set(path, mailbox);
  return mailbox;
}

const emailsOf = ({ account }: MailboxWorld) =>
  worlds.query('select subject, direction from emails where account_id = $1 order by subject', [account]);
const subjectsOf = async (world: MailboxWorld) => (await emailsOf(world)).map(({ subject }) => subject);
async function inboxOf({ account }: MailboxWorld) {
  const [reading] = await status.readStatus(account);
  return reading!.mailboxes.find(({ path }) => path === 'INBOX')!.counts;
}
const leftOut = async ({ account }: MailboxWorld, ...messageIds: string[]) =>
  (await status.findLeftOut({ messageIds, accountId: account })).map(({ path, reason }) => [path, reason]);

describe('what the rules of an account leave out', () => {
  it('is not fetched, is counted by reason, and found by its Message-ID', async () => {
    const world = worlds.createWorld();
    world.inbox.add(
      mail({ messageId: '<1@bank.test>', from: 'Bank <post@Bank.test>', subject: 'Kontoauszug' }),
    );
    world.inbox.add(mail({ subject: '[Privat] Feier' }));
    world.inbox.add(mail({ from: 'eva@example.com', to: 'max@example.com', subject: 'Intern' }));
    world.inbox.add(mail({ subject: 'Vertraulich', headers: ['Sensitivity: Company-Confidential'] }));
    world.inbox.add(
      mail({ messageId: '<5@customer.test>', subject: 'Anfrage', headers: ['Cc: post@bank.test'] }),
    );
    world.sent.add(mail({ from: 'sales@example.com', to: 'post@bank.test', subject: 'An die Bank' }));
    world.sent.add(mail({ from: 'sales@example.com', to: 'ada@customer.test', subject: 'Angebot' }));
    await world.start({
      capture: rules({
        neverAddresses: ['*@bank.test'],
        neverSubjects: ['[privat]'],
        internalDomains: ['example.com'],
        leaveOutPrivate: true,
      }),
    });
    await world.waitForPass();
    expect(await subjectsOf(world)).toEqual(['Anfrage', 'Angebot']);
    expect(await inboxOf(world)).toEqual({
      messages: 5,
      recorded: 1,
      waiting: 0,
      quarantined: 0,
      expunged: 0,
      leftOut: { ...NOTHING, address: 1, subject: 1, internal: 1, private: 1 },
    });
    // A busy machine may have a message fetched twice.
    expect(new Set(world.server.fetchedUids).size).toBe(2);
    expect(await leftOut(world, '1@bank.test')).toEqual([['INBOX', 'address']]);
    expect(await leftOut(world, '5@customer.test', 'x@bank.test')).toEqual([]);
    const rows = await worlds.query(
      `select to_jsonb(m)::text as row from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
      where b.account_id = $1 and m.left_out is not null`,
      [world.account],
    );
    expect(rows.length).toBe(5);
    for (const { row } of rows) expect(row).not.toMatch(/bank|feier|kontoauszug|vertraulich|example\.com/i);
  });

  it('is no mail that a customer has a blind copy of, and none that is answered outside', async () => {
    const world = worlds.createWorld();
    await worlds.query(
      `insert into customer_addresses (customer_id, address, origin) values ($1, 'blind@customer.test', 'registered')`,
      [randomUUID()],
    );
    const blind = (subject: string, to: string) =>
      world.sent.add(mail({ from: 'sales@example.com', to, subject, headers: ['Bcc: blind@customer.test'] }));
    blind('Intern mit Kunde', 'max@example.com');
    blind('Bank mit Kunde', 'post@bank.test');
    blind('Fremder mit Kunde', 'x@stranger.test');
    world.sent.add(mail({ from: 'sales@example.com', to: 'x@stranger.test', subject: 'Fremder' }));
    world.inbox.add(
      mail({
        from: 'formular@example.com',
        to: 'sales@example.com',
        subject: 'Kontaktformular',
        headers: ['Reply-To: blind@customer.test'],
      }),
    );
    await world.start({
      capture: rules({
        neverAddresses: ['*@bank.test'],
        internalDomains: ['example.com'],
        onlyCustomers: true,
      }),
    });
    await world.waitForPass();
    await expect
      .poll(() => subjectsOf(world))
      .toEqual(['Bank mit Kunde', 'Fremder mit Kunde', 'Intern mit Kunde', 'Kontaktformular']);
  });

  it('is mail with strangers, but no answer, and no report of a mail server', async () => {
    const world = worlds.createWorld();
    await worlds.query(
      `insert into customer_addresses (customer_id, address, origin) values ($1, 'ada@customer.test', 'registered')`,
      [randomUUID()],
    );
    const add = (messageId: string, from: string, more: object = {}) =>
      world.inbox.add(mail({ messageId: `<${messageId}>`, from, subject: messageId, ...more }));
    world.sent.add(
      mail({ messageId: '<offer@example.com>', from: 'sales@example.com', to: 'ADA@customer.test' }),
    );
    await world.start({ capture: rules({ onlyCustomers: true }) });
    await world.waitForPass();
    add('a@customer.test', 'Ada <ada@customer.test>');
    add('b@stranger.test', 'b@stranger.test');
    add('c@stranger.test', 'c@stranger.test', { inReplyTo: '<offer@example.com>' });
    add('d@stranger.test', 'd@stranger.test', { headers: ['Cc: ada@customer.test'] });
    add('e@mx.test', 'MAILER-DAEMON@mx.test');
    add('f@mx.test', 'post@mx.test', { headers: ['Content-Type: multipart/report; boundary=x'] });
    add('g@stranger.test', '');
    await expect.poll(() => world.inboxCounts()).toMatchObject({ recorded: 6, waiting: 0 });
    expect((await inboxOf(world)).leftOut).toEqual({ ...NOTHING, stranger: 1 });
    expect(await leftOut(world, 'b@stranger.test')).toEqual([['INBOX', 'stranger']]);
  });

  it('is judged again after a change of the rules', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1, { from: 'post@bank.test' }));
    world.inbox.add(numberedMail(2));
    const capture = rules({ neverAddresses: ['*@bank.test'] });
    const first = await world.start({ capture });
    await world.waitForPass();
    expect(await subjectsOf(world)).toEqual(['Nr. 2']);
    await world.stop(first);

    await status.resync(world.account);
    const second = await world.start({ capture });
    await expect.poll(async () => (await inboxOf(world)).leftOut.address).toBe(1);
    await world.stop(second);

    await status.resync(world.account);
    await world.start({ capture: null });
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2']);
    expect((await inboxOf(world)).leftOut).toEqual(NOTHING);
  });

  it('is judged again when other rules come without a word, as those of ACCOUNTS_FILE', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1, { from: 'post@bank.test' }));
    world.inbox.add(numberedMail(2));
    const first = await world.start({ capture: rules({ neverAddresses: ['*@bank.test'] }) });
    await world.waitForPass();
    expect((await inboxOf(world)).leftOut.address).toBe(1);
    await world.stop(first);
    const second = await world.start({ capture: rules({ neverSubjects: ['nr. 1'] }) });
    await expect.poll(async () => (await inboxOf(world)).leftOut).toEqual({ ...NOTHING, subject: 1 });
    await world.stop(second);
    await world.start({ capture: null });
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2']);
    expect((await inboxOf(world)).leftOut).toEqual(NOTHING);
  });

  it('is judged again when it answers what may be recorded later', async () => {
    const world = worlds.createWorld();
    await worlds.query(
      `insert into customer_addresses (customer_id, address, origin) values ($1, 'early@customer.test', 'registered')`,
      [randomUUID()],
    );
    const bob = 'bob@stranger.test';
    world.inbox.add(numberedMail(1, { from: 'early@customer.test' }));
    world.inbox.add(numberedMail(2, { from: bob, inReplyTo: '<1@customer.test>' }));
    world.inbox.add(numberedMail(3, { from: bob, inReplyTo: '<unknown@customer.test>' }));
    world.inbox.add(numberedMail(4, { from: bob }));
    await world.start({ capture: rules({ onlyCustomers: true }) });
    await world.waitForPass();
    const ofAccount = 'mailbox_id in (select id from mailboxes where account_id = $1)';
    const again = () =>
      worlds.query(
        `select uid::int, judge_again_at > now() as later, judge_again_at - left_out_at >= interval '10 minutes' as waits
        from mailbox_messages where judge_again_at is not null and ${ofAccount} order by uid`,
        [world.account],
      );
    const judgeNow = (age: string) =>
      worlds.query(
        `update mailbox_messages set judge_again_at = now() - interval '1 second', answers_since = now() - interval '${age}'
        where judge_again_at is not null and ${ofAccount}`,
        [world.account],
      );
    await expect.poll(again).toEqual([2, 3].map((uid) => ({ uid, later: true, waits: true })));
    await judgeNow('1 hour');
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2']);
    await expect.poll(again).toEqual([{ uid: 3, later: true, waits: true }]);
    await judgeNow('25 hours');
    await expect.poll(again).toEqual([]);
    await expect.poll(async () => (await inboxOf(world)).leftOut.stranger).toBe(2);
    expect(await leftOut(world, '3@customer.test')).toEqual([['INBOX', 'stranger']]);
  });

  it('is found for a month', async () => {
    const world = worlds.createWorld();
    world.inbox.add(mail({ messageId: '<old@bank.test>', from: 'post@bank.test' }));
    const capture = rules({ neverAddresses: ['*@bank.test'] });
    const node = await world.start({ capture });
    await world.waitForPass();
    await world.stop(node);
    expect(await leftOut(world, 'old@bank.test')).toEqual([['INBOX', 'address']]);
    const ofAccount = 'mailbox_id in (select id from mailboxes where account_id = $1)';
    await worlds.query(
      `update mailbox_messages set left_out_at = left_out_at - interval '31 days' where ${ofAccount}`,
      [world.account],
    );
    expect(await leftOut(world, 'old@bank.test')).toEqual([]);
    await world.start({ capture });
    await expect
      .poll(() =>
        worlds.query(`select from mailbox_messages where message_id_digest is not null and ${ofAccount}`, [
          world.account,
        ]),
      )
      .toEqual([]);
    expect((await inboxOf(world)).leftOut.address).toBe(1);
  });
});

it('is found for a month, also where no mailbox is read any more', async () => {
  const world = worlds.createWorld();
  addMailbox(world, 'Archiv').add(mail({ messageId: '<left@bank.test>', from: 'post@bank.test' }));
  const capture = rules({ neverAddresses: ['*@bank.test'], folders: ['Archiv'] });
  const node = await world.start({ capture });
  await expect.poll(() => leftOut(world, 'left@bank.test')).toEqual([['Archiv', 'address']]);
  await world.stop(node);
  await worlds.query(
    `update mailbox_messages set left_out_at = left_out_at - interval '31 days'
    where mailbox_id in (select id from mailboxes where account_id = $1)`,
    [world.account],
  );
  await worlds.createWorld().start();
  await expect
    .poll(
      () =>
        worlds.query(
          `select from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
          where m.message_id_digest is not null and b.account_id = $1`,
          [world.account],
        ),
      { timeout: 10_000 },
    )
    .toEqual([]);
});

it('leaves nothing of a message whose header was asked for again when the connection broke', async () => {
  const world = worlds.createWorld();
  world.inbox.add(mail({ from: 'post@bank.test', subject: 'Kontoauszug' }));
  let summaries = 0;
  world.server.faults.command = (name) => {
    if (name.startsWith('summaries') && ++summaries === 2)
      throw new MailboxError('connection', 'the connection was cut');
  };
  await world.start({ capture: rules({ neverAddresses: ['*@bank.test'], folders: ['Weg'] }) });
  await expect.poll(() => summaries).toBeGreaterThan(1);
  const stored = await worlds.query(
    `select header_summary from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
    where b.account_id = $1 and header_summary is not null`,
    [world.account],
  );
  expect(stored).toEqual([]);
});

describe('other mailboxes of an account', () => {
  it('are read when the rules name them, each message once', async () => {
    const world = worlds.createWorld();
    const [alpha, archive, trash] = [
      addMailbox(world, 'Projekte/Alpha'),
      addMailbox(world, 'Archiv', '\\Archive'),
      addMailbox(world, 'Papierkorb', '\\Trash'),
    ];
    addMailbox(world, 'Notizen').add(numberedMail(9));
    world.inbox.add(numberedMail(1));
    alpha.add(numberedMail(1));
    alpha.add(numberedMail(2));
    archive.add(numberedMail(3));
    trash.add(numberedMail(4));
    await world.start({ capture: rules({ folders: ['Projekte/*', '\\Archive', 'Papier*'] }) });
    await world.waitForPass();
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2', 'Nr. 3']);
    archive.add(numberedMail(5));
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2', 'Nr. 3', 'Nr. 5']);
    // Moved: the same message under another UID
    world.inbox.expunge(1);
    archive.add(numberedMail(1));
    await expect
      .poll(
        async () =>
          (
            await worlds.query(
              `select from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
      where b.account_id = $1 and b.path = 'Archiv' and m.email_id is not null`,
              [world.account],
            )
          ).length,
      )
      .toBe(3);
    expect((await world.emails()).length).toBe(4);
  });

  it('may have sent mail: what is from us and came over no server', async () => {
    const world = worlds.createWorld();
    const all = addMailbox(world, 'Alle', '\\All');
    const from = `Vertrieb <${world.account}@example.com>`;
    all.add(mail({ from, to: 'ada@customer.test', subject: 'Geschrieben' }));
    all.add(numberedMail(2, { from, subject: 'Gefälscht' }));
    await world.start({ capture: rules({ folders: ['\\All'] }) });
    await expect
      .poll(async () => (await emailsOf(world)).map(({ subject, direction }) => [subject, direction]))
      .toEqual([
        ['Gefälscht', 'inbound'],
        ['Geschrieben', 'outbound'],
      ]);
  });

  it('may have drafts, which are no mail yet', async () => {
    const world = worlds.createWorld();
    const [all, drafts] = [addMailbox(world, 'Alle', '\\All'), addMailbox(world, 'Nur Entwürfe')];
    const from = `${world.account}@example.com`;
    const draft = (subject: string) => mail({ from, to: 'ada@customer.test', subject });
    all.drafts.add(all.add(draft('Entwurf 1')));
    drafts.drafts.add(drafts.add(draft('Entwurf 2')));
    all.add(mail({ from, to: 'ada@customer.test', subject: 'Gesendet' }));
    await world.start({ capture: rules({ folders: ['\\All', 'Nur*'] }) });
    await expect.poll(() => subjectsOf(world)).toEqual(['Gesendet']);
    all.drafts.add(all.add(draft('Entwurf 3')));
    all.add(mail({ from, to: 'ada@customer.test', subject: 'Gesendet 2' }));
    await expect.poll(() => subjectsOf(world)).toEqual(['Gesendet', 'Gesendet 2']);
    const [reading] = await status.readStatus(world.account);
    expect(reading!.mailboxes.map(({ lastError }) => lastError)).toEqual([null, null, null, null]);
  });

  it('may come and go while the account is read', async () => {
    const world = worlds.createWorld();
    addMailbox(world, 'Projekte/Alpha').add(numberedMail(1));
    await world.start({ capture: rules({ folders: ['Projekte/*'] }) });
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1']);
    addMailbox(world, 'Projekte/Beta').add(numberedMail(2));
    addMailbox(world, 'Notizen').add(numberedMail(3));
    await expect.poll(() => subjectsOf(world), { timeout: 10_000 }).toEqual(['Nr. 1', 'Nr. 2']);
    world.server.accounts.get(world.account)!.delete('Projekte/Alpha');
    await expect
      .poll(
        async () =>
          (await status.readStatus(world.account))[0]!.mailboxes.find(({ path }) => path === 'Projekte/Alpha')
            ?.leftAt,
        { timeout: 10_000 },
      )
      .not.toBeNull();
    world.inbox.add(numberedMail(4));
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 1', 'Nr. 2', 'Nr. 4']);
  });

  it('are left when the rules no longer name them; their mail stays', async () => {
    const world = worlds.createWorld();
    addMailbox(world, 'Archiv', '\\Archive').add(numberedMail(3));
    const node = await world.start({ capture: rules({ folders: ['Archiv'] }) });
    await expect.poll(() => subjectsOf(world)).toEqual(['Nr. 3']);
    await world.stop(node);
    await world.start();
    await expect
      .poll(
        async () =>
          (await status.readStatus(world.account))[0]!.mailboxes.find(({ path }) => path === 'Archiv')
            ?.leftAt,
      )
      .not.toBeNull();
    expect(await subjectsOf(world)).toEqual(['Nr. 3']);
  });
});
