/**
 * Accounts whose mailboxes are in memory and can be made to misbehave, read into a real database; for one test file. Every test has
 * accounts of its own, and their readers stop when the test ends.
 */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { mail, type MailFields } from './inbound-mail.ts';
import { startMailboxNode, type MailboxNode, type MailboxNodeOptions } from './mailbox-node.ts';
import { readCounts, readEmails, waitForPass } from './mailbox-rows.ts';
import { MemoryMailServer, type MemoryMailbox, type MemoryServerOptions } from './memory-mail-server.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { query } from './query.ts';

/** One account on a server of its own. */
export interface MailboxWorld {
  readonly account: string;
  readonly server: MemoryMailServer;
  readonly inbox: MemoryMailbox;
  readonly sent: MemoryMailbox;
  /** Starts to read the account. */
  start(options?: Partial<MailboxNodeOptions>): Promise<MailboxNode>;
  stop(node: MailboxNode): Promise<void>;
  emails(): ReturnType<typeof readEmails>;
  counts(): ReturnType<typeof readCounts>;
  inboxCounts(): Promise<object | undefined>;
  waitForPass(): Promise<void>;
}

export interface MailboxWorlds {
  /** Only available within a test. */
  readonly database: TestDatabase;
  createWorld(options?: MemoryServerOptions): MailboxWorld;
  /** Starts to read the accounts of a server. */
  startNode(source: MemoryMailServer, options?: Partial<MailboxNodeOptions>): Promise<MailboxNode>;
  stopNode(node: MailboxNode): Promise<void>;
  query(text: string, values?: unknown[]): ReturnType<typeof query>;
}

/** Call it once, outside of tests. */
export function useMailboxWorlds(): MailboxWorlds {
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

  const worlds: MailboxWorlds = {
    get database() {
      return database;
    },
    createWorld(options = {}) {
      accounts += 1;
      const account = `account-${accounts}`;
      const server = new MemoryMailServer(options);
      const counts = () => readCounts(database, account);
      return {
        account,
        server,
        ...server.addAccount(account),
        start: (nodeOptions) => worlds.startNode(server, nodeOptions),
        stop: (node) => worlds.stopNode(node),
        emails: () => readEmails(database, account),
        counts,
        inboxCounts: async () => (await counts()).find(({ path }) => path === 'INBOX'),
        waitForPass: () => waitForPass(database, account),
      };
    },
    async startNode(source, options = {}) {
      const node = await startMailboxNode({ database: database.connectionString, source, ...options });
      nodes.add(node);
      return node;
    },
    async stopNode(node) {
      nodes.delete(node);
      await node.stop();
    },
    query: (text, values) => query(database.connectionString, text, values),
  };
  return worlds;
}

/** A message that is identified by its number, with the trace of the server that put it into its mailbox. */
export const numberedMail = (number: number, fields: MailFields = {}): string =>
  mail({
    messageId: `<${number}@customer.test>`,
    subject: `Nr. ${number}`,
    headers: [`Received: from mx.customer.test by mail.test id ${number}; Sun, 1 Mar 2026 12:00:01 +0100`],
    ...fields,
  });

/** Adds numbered messages, from `first` on. */
export function fill(mailbox: MemoryMailbox, count: number, first = 1): void {
  for (let number = first; number < first + count; number += 1) mailbox.add(numberedMail(number));
}
