/** Messages that can't be taken now, or at all, and that block nothing. Real database, IMAP server in memory that misbehaves. */
import { describe, expect, it } from 'vitest';
import { MailboxError } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { letTimePass } from '../helpers/mailbox-rows.ts';
import { fill, numberedMail, useMailboxWorlds } from '../helpers/mailbox-worlds.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds = useMailboxWorlds();

describe('a message that cannot be taken', () => {
  it('because the line breaks at it is set aside, and blocks nothing', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 20);
    let broken = true;
    world.server.faults.message = ({ uid }) => {
      if (uid !== 15 || !broken) return;
      world.server.cut();
    };
    await world.start();
    await waitUntil('all others are taken', async () => {
      await letTimePass(worlds.database);
      const counts = await world.counts();
      return counts.some(({ quarantined, recorded }) => quarantined === 1 && recorded === 19);
    });
    expect(await world.inboxCounts()).toMatchObject({ recorded: 19, waiting: 0, quarantined: 1 });
    const [row] = await worlds.query(
      `select m.uid::int, m.tries, m.last_error from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
       where b.account_id = $1 and m.quarantined_at is not null`,
      [world.account],
    );
    expect(row).toEqual({ uid: 15, tries: 4, last_error: 'the line is cut' });

    broken = false;
    await letTimePass(worlds.database, true);
    // It is counted a moment after it is recorded.
    await waitUntil('it is taken', async () =>
      (await world.counts()).some(({ quarantined, recorded }) => quarantined === 0 && recorded === 20),
    );
    expect(await world.emails()).toHaveLength(20);
  });

  it('because the server fails at its header is set aside as well', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 20);
    world.server.faults.size = ({ uid, raw }) => {
      if (uid === 15) throw new MailboxError('connection', 'an answer that makes no sense');
      return raw.length;
    };
    await world.start();
    await waitUntil('all others are taken', async () => {
      await letTimePass(worlds.database);
      const counts = await world.counts();
      return counts.some(({ quarantined, recorded }) => quarantined === 1 && recorded === 19);
    });
    expect(await world.inboxCounts()).toMatchObject({ recorded: 19, waiting: 0, quarantined: 1 });
  });

  it('because it is too large is set aside, whatever the server says of its size', async () => {
    const world = worlds.createWorld();
    world.inbox.add(numberedMail(1, { body: 'x'.repeat(5000) }));
    world.inbox.add(numberedMail(2, { body: 'y'.repeat(5000) }));
    world.inbox.add(numberedMail(3));
    world.server.faults.size = ({ uid, raw }) => (uid === 2 ? 100 : raw.length);
    await world.start({ maxBytes: 4000 });
    await world.waitForPass();
    expect(await world.emails()).toMatchObject([{ message_id: '3@customer.test' }]);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 1, waiting: 0, quarantined: 2 });
    expect(world.server.fetchedUids).not.toContain(1);
  });

  it('because of an error of ours is set aside after some tries, a hopeless one at once', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 10);
    const tries = new Map<number, number>();
    await world.start({
      receive(receive, request) {
        const text = request.raw.kind === 'bytes' ? request.raw.bytes.toString() : '';
        const number = Number(/Nr\. (\d+)/.exec(text)?.[1]);
        tries.set(number, (tries.get(number) ?? 0) + 1);
        if (number === 4) throw new TypeError('a fault');
        if (number === 5) throw new ServiceError('invalid_text');
        return receive(request);
      },
    });
    await waitUntil('both are set aside', async () => {
      await letTimePass(worlds.database);
      return (await world.counts()).some(({ quarantined }) => quarantined === 2);
    });
    expect(await world.emails()).toHaveLength(8);
    expect(tries.get(4)).toBeGreaterThanOrEqual(4);
    await world.waitForPass();
  });

  it('yet, because its send is being recorded, is put off and never set aside', async () => {
    const world = worlds.createWorld();
    fill(world.sent, 3);
    let busy = 8;
    await world.start({
      async receive(receive, request) {
        if (request.raw.kind === 'bytes' && request.raw.bytes.includes('Nr. 2') && busy > 0) {
          busy -= 1;
          throw new ServiceError('busy');
        }
        return receive(request);
      },
    });
    await waitUntil('the others are there', async () => (await world.emails()).length === 2);
    await expect
      .poll(async () => (await world.counts()).map(({ waiting, succeeded }) => ({ waiting, succeeded })))
      .toContainEqual({ waiting: 1, succeeded: false });
    await waitUntil('it is there', async () => {
      await letTimePass(worlds.database);
      expect((await world.counts()).every(({ quarantined }) => quarantined === 0)).toBe(true);
      return (await world.emails()).length === 3;
    });
  });

  it('because it went meanwhile is just gone', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 60);
    let gone = 0;
    world.server.faults.message = ({ uid }) => {
      if (uid % 3 === 0 && gone < 10) {
        gone += 1;
        world.inbox.expunge(uid - 1);
      }
    };
    await world.start();
    await world.waitForPass();
    const counts = await world.inboxCounts();
    expect(counts).toMatchObject({ waiting: 0, quarantined: 0, expunged: 10 });
    expect((await world.emails()).length).toBeGreaterThanOrEqual(50);
  });
});

describe('a database or storage that is unavailable', () => {
  it('skips nothing and sets nothing aside', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 60);
    let away = 3;
    await world.start({
      receive(receive, request) {
        if (away > 0 && request.raw.kind === 'bytes' && request.raw.bytes.includes('Nr. 30')) {
          away -= 1;
          throw new ServiceError(away === 1 ? 'storage_unavailable' : 'database_unavailable');
        }
        return receive(request);
      },
    });
    await world.waitForPass();
    expect(away).toBe(0);
    expect(await world.emails()).toHaveLength(60);
    const [row] = await worlds.query(
      `select count(*)::int as tried from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
       where b.account_id = $1 and (m.tries > 0 or m.last_error is not null)`,
      [world.account],
    );
    expect(row).toEqual({ tried: 0 });
    const [account] = await worlds.query(
      'select last_error_kind from mailbox_accounts where account_id = $1',
      [world.account],
    );
    expect(account).toEqual({ last_error_kind: 'service' });
  });

  it('is told from an odd fault of every message', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 60);
    let broken = true;
    await world.start({
      receive(receive, request) {
        if (broken) throw new TypeError('a fault');
        return receive(request);
      },
    });
    await waitUntil('it has given up for now', async () => {
      const rows = await worlds.query(
        'select last_error from mailbox_accounts where account_id = $1 and last_error is not null',
        [world.account],
      );
      return rows.length > 0;
    });
    broken = false;
    await letTimePass(worlds.database);
    await world.waitForPass();
    expect(await world.inboxCounts()).toMatchObject({ recorded: 60, quarantined: 0 });
  });
});
