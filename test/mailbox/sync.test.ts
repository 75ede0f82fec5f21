/** Which messages are taken from mailboxes, and when. Real database, IMAP server in memory. */
import { describe, expect, it } from 'vitest';
import { setTracer, type SpanStart } from '../../src/platform/base/tracing.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { fill, numberedMail, useMailboxWorlds } from '../helpers/mailbox-worlds.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds = useMailboxWorlds();

describe('the time until mail is recorded', () => {
  it('is counted from when it came into the mailbox, unless it was moved there', async () => {
    const world = worlds.createWorld();
    await world.start();
    await world.waitForPass();
    const began = Date.now();
    world.inbox.add(numberedMail(1), new Date(began - 3_600_000));
    world.inbox.add(numberedMail(2), new Date(began - 30 * 86_400_000));
    await waitUntil('both are recorded', async () => (await world.emails()).length === 2);
    const rows = (await worlds.query(
      'select message_id, took_ms from emails where account_id = $1 order by message_id',
      [world.account],
    )) as readonly { readonly message_id: string; readonly took_ms: number | null }[];
    expect(rows.map(({ took_ms: ms }) => ms === null)).toEqual([false, true]);
    expect(rows[0]?.took_ms).toBeGreaterThanOrEqual(3_600_000);
    expect(rows[0]?.took_ms).toBeLessThanOrEqual(3_600_000 + Date.now() - began);
  });
});

describe('a message without a Date', () => {
  it('has the time at which its mailbox got it, whatever its trace says', async () => {
    const world = worlds.createWorld();
    const undated = (body: string, headers: readonly string[] = []) =>
      mail({ messageId: null, body, headers }).replace(/Date: .*\r\n/, '');
    const at = new Date('2026-02-01T12:00:00Z');
    world.inbox.add(undated('eins'), at);
    world.inbox.add(undated('zwei', ['Received: by mx.test; Sun, 1 Mar 2026 12:00:00 +0100']), at);
    await world.start();
    await world.waitForPass();
    const rows = await worlds.query('select date from emails where account_id = $1', [world.account]);
    expect(rows).toEqual([{ date: at }, { date: at }]);
  });
});

describe('a first reading', () => {
  it('takes the newest first, and what is in Sent as sent', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 30);
    fill(world.sent, 5, 101);
    await world.start();
    await world.waitForPass();
    const emails = await world.emails();
    expect(emails).toHaveLength(35);
    expect(emails.filter(({ direction }) => direction === 'outbound')).toHaveLength(5);
    expect(world.server.fetchedUids.slice(0, 30)).toEqual(
      Array.from({ length: 30 }, (_, index) => 30 - index),
    );
    expect(await world.inboxCounts()).toMatchObject({
      recorded: 30,
      expunged: 0,
      waiting: 0,
      quarantined: 0,
    });
  });

  it('counts messages as read that were seen before', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1), new Date(), true);
    world.inbox.add(numberedMail(2));
    await world.start();
    await world.waitForPass();
    const unread = await worlds.query(
      `select e.message_id from unread_emails u join emails e on e.id = u.email_id where e.account_id = $1`,
      [world.account],
    );
    expect(unread).toEqual([{ message_id: '2@customer.test' }]);
  });

  it('leaves out mail that is older than the first day, and takes it when that day is moved back', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1), new Date('2025-12-31T12:00:00Z'));
    world.inbox.add(numberedMail(2), new Date('2026-02-01T12:00:00Z'));
    const node = await world.start({ since: new Date('2026-01-01T00:00:00Z') });
    await world.waitForPass();
    expect(await world.emails()).toMatchObject([{ message_id: '2@customer.test' }]);
    await world.stop(node);
    const later = await world.start({ since: new Date('2026-03-01T00:00:00Z') });
    await world.waitForPass();
    expect(await world.inboxCounts()).toMatchObject({ recorded: 1, expunged: 0 });
    await world.stop(later);
    await world.start({ since: new Date('2025-01-01T00:00:00Z') });
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(2);
  });

  it('takes new mail before older mail that waits', { tags: ['long'] }, async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 400);
    world.server.faults.message = () => new Promise((resolve) => setTimeout(resolve, 15));
    await world.start();
    await waitUntil('some are taken', () => world.server.fetchedUids.length > 20);
    world.inbox.add(numberedMail(1000));
    await waitUntil('the new one is taken', () => world.server.fetchedUids.includes(401));
    expect(world.server.fetchedUids.length).toBeLessThan(350);
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(401);
  });

  it(
    'goes on where it was cut off, and fetches only the messages under way twice',
    { tags: ['long'] },
    async () => {
      const world = worlds.createWorld();
      fill(world.inbox, 300);
      world.server.faults.message = () => new Promise((resolve) => setTimeout(resolve, 1));
      for (const stopAt of [40, 90, 200]) {
        const node = await world.start();
        await waitUntil('some are taken', () => world.server.fetchedUids.length > stopAt);
        await world.stop(node);
      }
      await world.start();
      await world.waitForPass();
      expect(await world.emails()).toHaveLength(300);
      expect(world.server.fetchedUids.length).toBeLessThan(300 + 3 * 20);
    },
  );
});

describe('a mailbox in which nothing changed', () => {
  it.each([{ qresync: true }, { qresync: false }])('costs one command (%o)', async (options) => {
    const world = worlds.createWorld(options);
    fill(world.inbox, 10);
    const node = await world.start();
    await world.waitForPass();
    await world.stop(node);
    world.server.commands.length = 0;
    await world.start();
    await world.waitForPass();
    await world.waitForPass();
    const commands = world.server.commands.filter((name) => name !== 'wait');
    expect(new Set(commands.slice(2))).toEqual(new Set(['open INBOX', 'open Sent']));
    expect(commands.slice(0, 2)).toEqual([`connect ${world.account}`, 'list']);
  });
});

describe('what changes', () => {
  it.each([{ qresync: true }, { qresync: false }, { idle: false }])(
    'is noted, arrivals and expunges (%o)',
    async (options) => {
      const world = worlds.createWorld(options);
      fill(world.inbox, 10);
      await world.start();
      await world.waitForPass();
      world.inbox.add(numberedMail(11));
      world.inbox.expunge(3);
      world.inbox.expunge(4);
      world.sent.add(numberedMail(12));
      await waitUntil('it is noted', async () => {
        const counts = await world.counts();
        const [inbox, sent] = counts;
        return inbox?.recorded === 11 && inbox.expunged === 2 && sent?.recorded === 1;
      });
      expect(await world.emails()).toHaveLength(12);
    },
  );

  it('in Sent is noticed while INBOX is watched', async () => {
    const world = worlds.createWorld();
    await world.start({ pollMs: 300 });
    await world.waitForPass();
    world.sent.add(numberedMail(1));
    await waitUntil('it is there', async () => (await world.emails()).length === 1);
    expect(await world.emails()).toMatchObject([{ direction: 'outbound' }]);
  });
});

describe('a new UIDVALIDITY', () => {
  it('downloads and doubles nothing, and notes what went meanwhile', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 30);
    world.inbox.add(mail({ messageId: null, body: 'ohne' }));
    const node = await world.start();
    await world.waitForPass();
    await world.stop(node);
    world.inbox.expunge(7);
    world.inbox.renew();
    world.inbox.add(numberedMail(40));
    world.server.fetchedUids.length = 0;
    await world.start();
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(32);
    // The new message, and the one that only its content distinguishes from others.
    expect(world.server.fetchedUids).toEqual([31, 30]);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 32, expunged: 1, waiting: 0 });
  });

  it('during a first reading is survived as well', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 200);
    world.server.faults.message = () => new Promise((resolve) => setTimeout(resolve, 1));
    await world.start();
    await waitUntil('some are taken', () => world.server.fetchedUids.length > 60);
    world.inbox.renew();
    world.server.cut();
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(200);
    // Comes in a statement after that of the pass.
    const isOver = async () =>
      !(
        await worlds.query('select has_older from mailboxes where path = $1 and account_id = $2', [
          'INBOX',
          world.account,
        ])
      )[0]?.['has_older'];
    await waitUntil('the earlier generation is gone', isOver);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 200, expunged: 0, waiting: 0 });
  });
});

describe('a message that is known already', () => {
  it('is fetched when it has no trace: another one may have its identity and size', async () => {
    const world = worlds.createWorld();
    const texts = ['Unsere IBAN ist DE1', 'Unsere IBAN ist XX9'];
    for (const body of texts) world.inbox.add(mail({ messageId: '<0@customer.test>', body }));
    await world.start();
    await world.waitForPass();
    const rows = await worlds.query('select text_body from emails where account_id = $1', [world.account]);
    expect(rows.map(({ text_body: text }) => text).sort()).toEqual(texts);
  });

  it('is not fetched', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 3);
    fill(world.sent, 3);
    const node = await world.start();
    await world.waitForPass();
    // In INBOX and in Sent: the record has to become one of a sent email.
    expect((await world.emails()).map(({ direction }) => direction)).toEqual(Array(3).fill('outbound'));
    await world.stop(node);
    world.server.fetchedUids.length = 0;
    fill(world.inbox, 3);
    fill(world.sent, 3);
    await world.start();
    await world.waitForPass();
    expect(world.server.fetchedUids).toEqual([]);
    expect(await world.emails()).toHaveLength(3);
  });
});

it('is traced as looks, each with its account and its mailbox, and no names of mailboxes', async () => {
  const looks: { start: SpanStart; end: unknown }[] = [];
  setTracer({
    isUnderWay: () => false,
    begin: (start) => ({ run: (work) => work(), end: (end) => looks.push({ start, end }) }),
  });
  try {
    const world = worlds.createWorld();
    fill(world.inbox, 3);
    await world.start();
    await world.waitForPass();
    await waitUntil('a look has ended', () => looks.length > 0);
    expect(looks[0]).toEqual({
      start: {
        name: 'look at mailbox',
        kind: 'client',
        attributes: { 'email_worker.account': world.account, 'email_worker.mailbox': expect.any(String) },
      },
      end: { attributes: { 'email_worker.more_to_take': expect.any(Boolean) } },
    });
    expect(JSON.stringify(looks)).not.toContain('INBOX');
  } finally {
    setTracer(null);
  }
});
