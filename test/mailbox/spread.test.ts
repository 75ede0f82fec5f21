/** How accounts are spread over processes, and move from one to another. Real database, IMAP server in memory. */
import { describe, expect, it } from 'vitest';
import type { MailboxNode, MailboxNodeOptions } from '../helpers/mailbox-node.ts';
import { readEmails } from '../helpers/mailbox-rows.ts';
import { fill, numberedMail, useMailboxWorlds } from '../helpers/mailbox-worlds.ts';
import { MemoryMailServer, type MemoryMailbox } from '../helpers/memory-mail-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds = useMailboxWorlds();

/** Longer than a test: accounts change hands only because of the spread, and mailboxes are looked at only when mail comes. */
const LONG_MS = 600_000;

/** Accounts of one test, and the processes that read them. */
class Spread {
  readonly server = new MemoryMailServer();
  readonly names: readonly string[];
  readonly inboxes: readonly MemoryMailbox[];
  readonly nodes = new Set<MailboxNode>();

  constructor(name: string, count: number) {
    this.names = Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(2, '0')}`);
    this.inboxes = this.names.map((one) => this.server.addAccount(one).inbox);
  }

  /** @param names of the accounts that it reads; default: all */
  async start(options: Partial<MailboxNodeOptions> = {}, names = this.names): Promise<MailboxNode> {
    const source = {
      accountIds: names,
      connect: this.server.connect.bind(this.server),
      warningOf: () => null,
    };
    const node = await worlds.startNode(this.server, {
      leaseMs: LONG_MS,
      pollMs: LONG_MS,
      source,
      ...options,
    });
    this.nodes.add(node);
    return node;
  }

  async stop(node: MailboxNode): Promise<void> {
    this.nodes.delete(node);
    await worlds.stopNode(node);
  }

  /** Account → process. */
  async owners(): Promise<ReadonlyMap<string, string | null>> {
    const rows = await worlds.query(
      'select account_id, owner from mailbox_accounts where account_id = any ($1)',
      [this.names],
    );
    return new Map(rows.map((row) => [String(row['account_id']), row['owner'] as string | null]));
  }

  async sharesOf(...nodes: readonly MailboxNode[]): Promise<readonly number[]> {
    const owners = [...(await this.owners()).values()];
    return nodes.map(({ owner }) => owners.filter((one) => one === owner).length);
  }

  /** Waits until these processes have these numbers of accounts, and read each of them over one connection. */
  async waitForShares(shares: ReadonlyMap<MailboxNode, number>): Promise<void> {
    await waitUntil(`the shares are ${[...shares.values()].join(', ')}`, async () => {
      for (const node of this.nodes) node.look();
      const found = await this.sharesOf(...shares.keys());
      return (
        found.every((share, index) => share === [...shares.values()][index]) &&
        this.server.sessions.size === this.names.length &&
        this.server.waiting === this.names.length
      );
    });
  }
}

describe('the accounts of several processes', () => {
  it('are spread evenly, and as few as possible change hands when a process comes or goes', async () => {
    const spread = new Spread('even', 12);
    for (const [index, inbox] of spread.inboxes.entries()) fill(inbox, 2, index * 100);
    const [first, second] = [await spread.start(), await spread.start()];
    await spread.waitForShares(new Map([first, second].map((node) => [node, 6])));
    const ofTwo = await spread.owners();

    const third = await spread.start();
    await spread.waitForShares(new Map([first, second, third].map((node) => [node, 4])));
    const ofThree = await spread.owners();
    const changed = spread.names.filter((name) => ofTwo.get(name) !== ofThree.get(name));
    expect(changed.map((name) => ofThree.get(name))).toEqual(Array.from({ length: 4 }, () => third.owner));

    await spread.stop(first);
    await spread.waitForShares(new Map([second, third].map((node) => [node, 6])));
    const after = await spread.owners();
    const stayed = spread.names.filter((name) => ofThree.get(name) !== first.owner);
    expect(stayed.map((name) => after.get(name))).toEqual(stayed.map((name) => ofThree.get(name)));

    for (const [index, inbox] of spread.inboxes.entries()) inbox.add(numberedMail(index * 100 + 2));
    for (const [index, name] of spread.names.entries()) {
      await waitUntil('all is there', async () => (await readEmails(worlds.database, name)).length === 3);
      const ids = (await readEmails(worlds.database, name)).map(({ message_id: id }) => id);
      expect(ids).toEqual([0, 1, 2].map((number) => `${index * 100 + number}@customer.test`).sort());
    }
    const readers = await worlds.query('select owner from mailbox_readers where account_ids = $1', [
      spread.names,
    ]);
    expect(readers.map((row) => row['owner']).toSorted()).toEqual([second.owner, third.owner].toSorted());
  });

  it('go to those that are configured to read them, as evenly as that allows', async () => {
    const spread = new Spread('some', 6);
    const all = await spread.start();
    await spread.waitForShares(new Map([[all, 6]]));
    const few = await spread.start({}, spread.names.slice(0, 2));
    await spread.waitForShares(
      new Map([
        [all, 4],
        [few, 2],
      ]),
    );
    const others = await spread.start({}, spread.names.slice(1, 5));
    await spread.waitForShares(
      new Map([
        [all, 2],
        [few, 2],
        [others, 2],
      ]),
    );
    await spread.stop(all);
    // No process reads the last one.
    await waitUntil('the others have the rest', async () => {
      for (const node of spread.nodes) node.look();
      return (await spread.sharesOf(few, others)).reduce((sum, share) => sum + share, 0) === 5;
    });
    expect((await spread.owners()).get(spread.names.at(-1) ?? '')).toBe(null);
  });

  it('are handed over after the messages in hand, each of which is recorded once', async () => {
    const spread = new Spread('busy', 2);
    for (const inbox of spread.inboxes) fill(inbox, 120);
    let letGo = () => {};
    const mayGo = new Promise<void>((resolve) => (letGo = resolve));
    const received = { first: 0, second: 0 };
    const first = await spread.start({
      async receive(receive, request) {
        received.first += 1;
        await mayGo;
        return receive(request);
      },
    });
    await waitUntil('messages of both are in hand', () => received.first >= 60);
    const second = await spread.start({
      receive(receive, request) {
        received.second += 1;
        return receive(request);
      },
    });
    const isReader = async () =>
      (await worlds.query('select from mailbox_readers where owner = $1', [second.owner])).length === 1;
    await waitUntil('the second is there', isReader);
    first.look();
    letGo();
    await spread.waitForShares(
      new Map([
        [first, 1],
        [second, 1],
      ]),
    );
    for (const name of spread.names) {
      await waitUntil('all is there', async () => (await readEmails(worlds.database, name)).length === 120);
    }
    // Messages that the first process had in hand are recorded, and not fetched again.
    expect(received.first + received.second).toBe(240);
    expect(spread.server.fetchedUids).toHaveLength(240);
  });

  it('are handed over a few at a time', async () => {
    const spread = new Spread('many', 80);
    const first = await spread.start();
    await spread.waitForShares(new Map([[first, 80]]));
    const second = await spread.start({
      // Claims no account.
      records: (records) => ({
        ...records,
        claim: (owner, request) => records.claim(owner, { ...request, take: [] }),
      }),
    });
    const free = async () => [...(await spread.owners()).values()].filter((owner) => owner === null).length;
    await waitUntil('some are free', async () => {
      first.look();
      return (await free()) === 32;
    });
    for (let look = 0; look < 5; look += 1) {
      const rounds = spread.server.commands.length;
      first.look();
      spread.inboxes[0]!.add(numberedMail(look));
      await waitUntil('it goes on', () => spread.server.commands.length > rounds);
      expect(await free()).toBe(32);
    }
    await spread.stop(second);
    await spread.waitForShares(new Map([[first, 80]]));
  });
});
