/** Assignment of accounts to reading processes: one owner for each, and many accounts at once. Real database, IMAP server in memory. */
import { describe, expect, it } from 'vitest';
import { MailboxError } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { readEmails, waitForPass } from '../helpers/mailbox-rows.ts';
import { fill, numberedMail, useMailboxWorlds } from '../helpers/mailbox-worlds.ts';
import { MemoryMailServer } from '../helpers/memory-mail-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds = useMailboxWorlds();

describe('one owner', () => {
  it('reads an account, and another takes over at once when it stops', async () => {
    const world = worlds.createWorld();
    const first = await world.start({ leaseMs: 60_000 });
    await world.waitForPass();
    const second = await world.start({ leaseMs: 600 });
    world.inbox.add(numberedMail(1));
    await waitUntil('it is there', async () => (await world.emails()).length === 1);
    expect(world.server.commands.filter((name) => name.startsWith('connect'))).toHaveLength(1);
    await world.stop(first);
    world.inbox.add(numberedMail(2));
    await waitUntil('the second is there', async () => (await world.emails()).length === 2);
    // On a busy machine it may lose its short lease and connect again.
    const owner = async () =>
      await worlds.query('select owner from mailbox_accounts where account_id = $1', [world.account]);
    await expect.poll(owner).toEqual([{ owner: second.owner }]);
  });

  it('that falls silent is followed by another, and stops when it runs again', async () => {
    const world = worlds.createWorld();
    fill(world.inbox, 50);
    let silent = false;
    let calls = 0;
    const received: string[] = [];
    const first = await world.start({
      leaseMs: 500,
      records: (records) => ({
        ...records,
        claim: (...args) => (silent ? Promise.reject(new Error('no answer')) : records.claim(...args)),
      }),
      async receive(receive, request) {
        calls += 1;
        if (calls === 6) silent = true;
        await waitUntil('it may go on', () => !silent);
        received.push('first');
        return receive(request);
      },
    });
    await waitUntil('some are taken', () => silent);
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
    const [row] = await worlds.query('select owner from mailbox_accounts where account_id = $1', [
      world.account,
    ]);
    expect(row?.['owner']).not.toBe(first.owner);
  });

  it('writes nothing without its lease', async () => {
    const world = worlds.createWorld();
    const node = await world.start();
    await world.waitForPass();
    const other = { owner: '00000000-0000-4000-8000-000000000000', accountId: world.account };
    const [row] = await worlds.query('select id from mailboxes where account_id = $1', [world.account]);
    const generation = { ...other, mailboxId: String(row?.['id']), uidValidity: 1000 };
    const uids = [{ first: 1, last: 3 }];
    const { records } = node;
    for (const write of [
      () => records.noteAttempt(other.owner, other.accountId),
      () => records.openMailboxes(other.owner, other.accountId, [{ path: 'X', specialUse: null }], null),
      () => records.recordChanges(generation, { arrived: uids, gone: [] }),
      () => records.conclude(generation, { taken: [], failed: [] }),
      () => records.concludePass(generation, 0),
      () => records.noteMailboxFailure(generation, 'x'),
    ]) {
      await expect(write()).rejects.toThrow('by another process');
    }
    expect(await world.counts()).toMatchObject([
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
      // Never resolves, until the process ends.
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new MailboxError('connection', 'given up')));
      });
    };
    await worlds.startNode(server);
    for (const name of names.slice(21)) await waitForPass(worlds.database, name);
    const rows = await worlds.query(
      `select account_id, last_error_kind from mailbox_accounts where account_id like 'many-%' and last_error is not null`,
    );
    expect(rows).toEqual([{ account_id: 'many-0', last_error_kind: 'credentials' }]);
  });

  it('are a thousand in one process, with bounded memory', async () => {
    const server = new MemoryMailServer();
    const names = Array.from({ length: 1000 }, (_, index) => `idle-${index}`);
    const boxes = names.map((name) => server.addAccount(name).inbox);
    const before = process.memoryUsage().heapUsed;
    await worlds.startNode(server, { leaseMs: 30_000, pollMs: 600_000 });
    const [waiting, active] = [() => server.waiting, () => server.sessions.size];
    await waitUntil('all wait', () => active() === 1000 && waiting() === 1000, 120_000);
    for (const index of [1, 500, 999]) boxes[index]!.add(numberedMail(index));
    for (const index of [1, 500, 999]) {
      await waitUntil(
        'it is there',
        async () => (await readEmails(worlds.database, `idle-${index}`)).length === 1,
      );
    }
    const bytes = (process.memoryUsage().heapUsed - before) / 1000;
    process.stdout.write(
      `1,000 accounts: ${Math.round(bytes / 1024)} KiB for each, the server in memory included\n`,
    );
    expect(bytes).toBeLessThan(100 * 1024);
  });
});
