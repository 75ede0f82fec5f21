/** Reading mailboxes with a real database and an IMAP server in memory that can be made to misbehave. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MailboxError } from '../../src/app/mailbox-ports.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { mail } from '../helpers/inbound-mail.ts';
import { startMailboxNode, type MailboxNode, type MailboxNodeOptions } from '../helpers/mailbox-node.ts';
import { letTimePass, readCounts, readEmails, waitForPass } from '../helpers/mailbox-rows.ts';
import {
  MemoryMailServer,
  type MemoryMailbox,
  type MemoryServerOptions,
} from '../helpers/memory-mail-server.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
const nodes = new Set<MailboxNode>();
let accounts = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all([...nodes].map((node) => node.stop()));
  nodes.clear();
});
afterAll(() => database.drop());

interface World {
  readonly account: string;
  readonly server: MemoryMailServer;
  readonly inbox: MemoryMailbox;
  readonly sent: MemoryMailbox;
  start(options?: Partial<MailboxNodeOptions>): Promise<MailboxNode>;
  stop(node: MailboxNode): Promise<void>;
  emails(): ReturnType<typeof readEmails>;
  inboxCounts(): Promise<object | undefined>;
  waitForPass(): Promise<void>;
}

function createWorld(options: MemoryServerOptions = {}): World {
  accounts += 1;
  const account = `account-${accounts}`;
  const server = new MemoryMailServer(options);
  return {
    account,
    server,
    ...server.addAccount(account),
    async start(nodeOptions = {}) {
      const node = await startMailboxNode({
        database: database.connectionString,
        source: server,
        ...nodeOptions,
      });
      nodes.add(node);
      return node;
    },
    async stop(node) {
      nodes.delete(node);
      await node.stop();
    },
    emails: () => readEmails(database, account),
    inboxCounts: async () => (await readCounts(database, account)).find(({ path }) => path === 'INBOX'),
    waitForPass: () => waitForPass(database, account),
  };
}

const numbered = (number: number, fields = {}) =>
  mail({ messageId: `<${number}@customer.test>`, subject: `Nr. ${number}`, ...fields });

function fill(mailbox: MemoryMailbox, count: number, first = 1): void {
  for (let number = first; number < first + count; number += 1) mailbox.add(numbered(number));
}

describe('a first reading', () => {
  it('takes the newest first, and what is in Sent as sent', async () => {
    const world = createWorld();
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

  it('takes as read what was seen before', async () => {
    const world = createWorld();
    world.inbox.add(numbered(1), new Date(), true);
    world.inbox.add(numbered(2));
    await world.start();
    await world.waitForPass();
    const unread = await query(
      database.connectionString,
      `select e.message_id from unread_emails u join emails e on e.id = u.email_id where e.account_id = $1`,
      [world.account],
    );
    expect(unread).toEqual([{ message_id: '2@customer.test' }]);
  });

  it('leaves out what is older than the first day, and takes it when that is moved back', async () => {
    const world = createWorld();
    world.inbox.add(numbered(1), new Date('2025-12-31T12:00:00Z'));
    world.inbox.add(numbered(2), new Date('2026-02-01T12:00:00Z'));
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

  it('lets new mail by', async () => {
    const world = createWorld();
    fill(world.inbox, 400);
    world.server.faults.message = () => new Promise((resolve) => setTimeout(resolve, 15));
    await world.start();
    await waitUntil('some are taken', () => world.server.fetchedUids.length > 20);
    world.inbox.add(numbered(1000));
    await waitUntil('the new one is taken', () => world.server.fetchedUids.includes(401));
    expect(world.server.fetchedUids.length).toBeLessThan(350);
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(401);
  });

  it('goes on where it was cut off, and fetches nothing twice but what was in hand', async () => {
    const world = createWorld();
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
  });
});

describe('a mailbox in which nothing changed', () => {
  it.each([{ qresync: true }, { qresync: false }])('costs one command (%o)', async (options) => {
    const world = createWorld(options);
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
      const world = createWorld(options);
      fill(world.inbox, 10);
      await world.start();
      await world.waitForPass();
      world.inbox.add(numbered(11));
      world.inbox.expunge(3);
      world.inbox.expunge(4);
      world.sent.add(numbered(12));
      await waitUntil('it is noted', async () => {
        const counts = await readCounts(database, world.account);
        const [inbox, sent] = counts;
        return inbox?.recorded === 11 && inbox.expunged === 2 && sent?.recorded === 1;
      });
      expect(await world.emails()).toHaveLength(12);
    },
  );

  it('in Sent is noticed while INBOX is watched', async () => {
    const world = createWorld();
    await world.start({ pollMs: 300 });
    await world.waitForPass();
    world.sent.add(numbered(1));
    await waitUntil('it is there', async () => (await world.emails()).length === 1);
    expect(await world.emails()).toMatchObject([{ direction: 'outbound' }]);
  });
});

describe('a new UIDVALIDITY', () => {
  it('downloads and doubles nothing, and notes what went meanwhile', async () => {
    const world = createWorld();
    fill(world.inbox, 30);
    world.inbox.add(mail({ messageId: null, body: 'ohne' }));
    const node = await world.start();
    await world.waitForPass();
    await world.stop(node);
    world.inbox.expunge(7);
    world.inbox.renew();
    world.inbox.add(numbered(40));
    world.server.fetchedUids.length = 0;
    await world.start();
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(32);
    // The new one, and the one that nothing but its content tells from others.
    expect(world.server.fetchedUids).toEqual([31, 30]);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 32, expunged: 1, waiting: 0 });
  });

  it('during a first reading is survived as well', async () => {
    const world = createWorld();
    fill(world.inbox, 200);
    world.server.faults.message = () => new Promise((resolve) => setTimeout(resolve, 1));
    await world.start();
    await waitUntil('some are taken', () => world.server.fetchedUids.length > 60);
    world.inbox.renew();
    world.server.cut();
    await world.waitForPass();
    expect(await world.emails()).toHaveLength(200);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 200, expunged: 0, waiting: 0 });
  });
});

describe('a message that is known already', () => {
  it('is not fetched', async () => {
    const world = createWorld();
    fill(world.inbox, 3);
    fill(world.sent, 3);
    const node = await world.start();
    await world.waitForPass();
    // In INBOX and in Sent: the record has to become a sent one.
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

describe('a message that can not be taken', () => {
  it('because the line breaks at it is set aside, and blocks nothing', async () => {
    const world = createWorld();
    fill(world.inbox, 20);
    let broken = true;
    world.server.faults.message = ({ uid }) => {
      if (uid !== 15 || !broken) return;
      world.server.cut();
    };
    await world.start();
    await waitUntil('all others are taken', async () => {
      await letTimePass(database);
      const counts = await readCounts(database, world.account);
      return counts.some(({ quarantined, recorded }) => quarantined === 1 && recorded === 19);
    });
    expect(await world.inboxCounts()).toMatchObject({ recorded: 19, waiting: 0, quarantined: 1 });
    const [row] = await query(
      database.connectionString,
      `select m.uid::int, m.tries, m.last_error from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
       where b.account_id = $1 and m.quarantined_at is not null`,
      [world.account],
    );
    expect(row).toEqual({ uid: 15, tries: 4, last_error: 'the line is cut' });

    broken = false;
    await letTimePass(database, true);
    await waitUntil('it is taken', async () => (await world.emails()).length === 20);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 20, quarantined: 0 });
  });

  it('because the server fails at its header is set aside as well', async () => {
    const world = createWorld();
    fill(world.inbox, 20);
    world.server.faults.size = ({ uid, raw }) => {
      if (uid === 15) throw new MailboxError('connection', 'an answer that makes no sense');
      return raw.length;
    };
    await world.start();
    await waitUntil(
      'all others are taken',
      async () => {
        await letTimePass(database);
        const counts = await readCounts(database, world.account);
        return counts.some(({ quarantined, recorded }) => quarantined === 1 && recorded === 19);
      },
      30_000,
    );
    expect(await world.inboxCounts()).toMatchObject({ recorded: 19, waiting: 0, quarantined: 1 });
  });

  it('because it is too large is set aside, whatever the server says of its size', async () => {
    const world = createWorld();
    world.inbox.add(numbered(1, { body: 'x'.repeat(5000) }));
    world.inbox.add(numbered(2, { body: 'y'.repeat(5000) }));
    world.inbox.add(numbered(3));
    world.server.faults.size = ({ uid, raw }) => (uid === 2 ? 100 : raw.length);
    await world.start({ maxBytes: 4000 });
    await world.waitForPass();
    expect(await world.emails()).toMatchObject([{ message_id: '3@customer.test' }]);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 1, waiting: 0, quarantined: 2 });
    expect(world.server.fetchedUids).not.toContain(1);
  });

  it('because of an error of ours is set aside after some tries, a hopeless one at once', async () => {
    const world = createWorld();
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
      await letTimePass(database);
      return (await readCounts(database, world.account)).some(({ quarantined }) => quarantined === 2);
    });
    expect(await world.emails()).toHaveLength(8);
    expect(tries.get(4)).toBeGreaterThanOrEqual(4);
    await world.waitForPass();
  });

  it('yet, because its send is being recorded, is put off and never set aside', async () => {
    const world = createWorld();
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
    const before = await readCounts(database, world.account);
    expect(before.map(({ waiting, succeeded }) => ({ waiting, succeeded }))).toContainEqual({
      waiting: 1,
      succeeded: false,
    });
    await waitUntil('it is there', async () => {
      await letTimePass(database);
      expect((await readCounts(database, world.account)).every(({ quarantined }) => quarantined === 0)).toBe(
        true,
      );
      return (await world.emails()).length === 3;
    });
  });

  it('because it went meanwhile is just gone', async () => {
    const world = createWorld();
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

describe('a database or storage that is away', () => {
  it('skips nothing and sets nothing aside', async () => {
    const world = createWorld();
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
    const [row] = await query(
      database.connectionString,
      `select count(*)::int as tried from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
       where b.account_id = $1 and (m.tries > 0 or m.last_error is not null)`,
      [world.account],
    );
    expect(row).toEqual({ tried: 0 });
    const [account] = await query(
      database.connectionString,
      'select last_error_kind from mailbox_accounts where account_id = $1',
      [world.account],
    );
    expect(account).toEqual({ last_error_kind: 'service' });
  });

  it('is told from an odd fault of every message', async () => {
    const world = createWorld();
    fill(world.inbox, 60);
    let broken = true;
    await world.start({
      receive(receive, request) {
        if (broken) throw new TypeError('a fault');
        return receive(request);
      },
    });
    await waitUntil('it has given up for now', async () => {
      const rows = await query(
        database.connectionString,
        'select last_error from mailbox_accounts where account_id = $1 and last_error is not null',
        [world.account],
      );
      return rows.length > 0;
    });
    broken = false;
    await letTimePass(database);
    await world.waitForPass();
    expect(await world.inboxCounts()).toMatchObject({ recorded: 60, quarantined: 0 });
  });
});

describe('one owner', () => {
  it('reads an account, and another takes over at once when it stops', async () => {
    const world = createWorld();
    const first = await world.start({ leaseMs: 60_000 });
    await world.waitForPass();
    await world.start({ leaseMs: 600 });
    world.inbox.add(numbered(1));
    await waitUntil('it is there', async () => (await world.emails()).length === 1);
    expect(world.server.commands.filter((name) => name.startsWith('connect'))).toHaveLength(1);
    await world.stop(first);
    world.inbox.add(numbered(2));
    await waitUntil('the second is there', async () => (await world.emails()).length === 2);
    expect(world.server.commands.filter((name) => name.startsWith('connect'))).toHaveLength(2);
  });

  it('that falls silent is followed by another, and stops when it comes to itself', async () => {
    const world = createWorld();
    fill(world.inbox, 50);
    let silent = false;
    const received: string[] = [];
    const first = await world.start({
      leaseMs: 500,
      records: (records) => ({
        ...records,
        claim: (...args) => (silent ? Promise.reject(new Error('no answer')) : records.claim(...args)),
      }),
      async receive(receive, request) {
        await waitUntil('it may go on', () => !silent);
        received.push('first');
        return receive(request);
      },
    });
    await waitUntil('some are taken', () => received.length > 5);
    silent = true;
    await world.start({
      leaseMs: 500,
      receive(receive, request) {
        received.push('second');
        return receive(request);
      },
    });
    await waitUntil('the second has taken over', () => received.includes('second'));
    await world.waitForPass();
    silent = false;
    await world.stop(first);
    expect(await world.emails()).toHaveLength(50);
    expect(await world.inboxCounts()).toMatchObject({ recorded: 50, waiting: 0, quarantined: 0 });
    const [row] = await query(
      database.connectionString,
      'select owner from mailbox_accounts where account_id = $1',
      [world.account],
    );
    expect(row?.['owner']).not.toBe(first.owner);
  });

  it('writes nothing without its lease', async () => {
    const world = createWorld();
    const node = await world.start();
    await world.waitForPass();
    const other = { owner: '00000000-0000-4000-8000-000000000000', accountId: world.account };
    const [row] = await query(database.connectionString, 'select id from mailboxes where account_id = $1', [
      world.account,
    ]);
    const generation = { ...other, mailboxId: String(row?.['id']), uidValidity: 1000 };
    const uids = [{ first: 1, last: 3 }];
    const { records } = node;
    for (const write of [
      () => records.noteAttempt(other.owner, other.accountId),
      () => records.openMailboxes(other.owner, other.accountId, [{ path: 'X', specialUse: null }]),
      () => records.recordChanges(generation, { arrived: uids, gone: [] }),
      () => records.settle(generation, { taken: [], failed: [] }),
      () => records.concludePass(generation, 0),
      () => records.noteMailboxFailure(generation, 'x'),
    ]) {
      await expect(write()).rejects.toThrow('by another process');
    }
    expect(await readCounts(database, world.account)).toMatchObject([
      { path: 'INBOX', waiting: 0 },
      { path: 'Sent', waiting: 0 },
    ]);
  });
});

describe('many accounts', () => {
  it('do not wait for one with a wrong password, or for servers that hang', async () => {
    const server = new MemoryMailServer();
    const names = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    for (const name of names) fill(server.addAccount(name).inbox, 2);
    server.faults.connect = (accountId, signal) => {
      const index = Number(accountId.slice('many-'.length));
      if (index === 0) throw new MailboxError('credentials', 'wrong password');
      if (index > 20) return;
      // Never, until the process ends.
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new MailboxError('connection', 'given up')));
      });
    };
    const node = await startMailboxNode({ database: database.connectionString, source: server });
    nodes.add(node);
    for (const name of names.slice(21)) await waitForPass(database, name);
    const rows = await query(
      database.connectionString,
      `select account_id, last_error_kind from mailbox_accounts where account_id like 'many-%' and last_error is not null`,
    );
    expect(rows).toEqual([{ account_id: 'many-0', last_error_kind: 'credentials' }]);
  });

  it('are a thousand in one process, with bounded memory', async () => {
    const server = new MemoryMailServer();
    const names = Array.from({ length: 1000 }, (_, index) => `idle-${index}`);
    const boxes = names.map((name) => server.addAccount(name).inbox);
    const before = process.memoryUsage().heapUsed;
    const node = await startMailboxNode({
      database: database.connectionString,
      source: server,
      leaseMs: 30_000,
      pollMs: 600_000,
    });
    nodes.add(node);
    const [waiting, active] = [() => server.waiting, () => server.sessions.size];
    await waitUntil('all wait', () => active() === 1000 && waiting() === 1000, 120_000);
    for (const index of [1, 500, 999]) boxes[index]!.add(numbered(index));
    for (const index of [1, 500, 999]) {
      await waitUntil('it is there', async () => (await readEmails(database, `idle-${index}`)).length === 1);
    }
    const bytes = (process.memoryUsage().heapUsed - before) / 1000;
    process.stdout.write(
      `1,000 accounts: ${Math.round(bytes / 1024)} KiB for each, the server in memory included\n`,
    );
    expect(bytes).toBeLessThan(100 * 1024);
  }, 180_000);
});
