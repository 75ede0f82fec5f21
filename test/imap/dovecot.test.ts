/** The IMAP adapter on a real Dovecot. */
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ImapFlow } from 'imapflow';
import type { MailboxError, MailboxSession } from '../../src/areas/mailboxes/mailbox-ports.ts';
import { startDovecot, type DovecotServer } from '../helpers/dovecot-server.ts';
import { MAIL_USERS } from '../helpers/dovecot-files.ts';
import { collect, failureOf, NEVER, readAll, sourceOf } from '../helpers/imap-sessions.ts';
import { skipWithoutMailServers, type MailUser } from '../helpers/mail-servers.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MIB = 1024 * 1024;
const LONG_MS = 60_000;

function small(name: string): Buffer {
  return Buffer.from(
    `Message-ID: <${name}@example.test>\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\nFrom: Bob <bob@example.test>\r\n` +
      `Subject: ${name}\r\nX-Other: y\r\n\r\nBody of ${name}\r\n`,
  );
}

describe.skipIf(skipWithoutMailServers())('the IMAP adapter on Dovecot', () => {
  let server: DovecotServer;
  const open: MailboxSession[] = [];

  beforeAll(async () => {
    server = await startDovecot({
      tls: true,
      settings: `
namespace inbox {
  inbox = yes
  separator = .
  mailbox Verschickt {
    special_use = \\Sent
    auto = create
  }
  mailbox Papierkorb {
    special_use = \\Trash
    auto = create
  }
}
`,
    });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((session) => session.close()));
  });
  afterAll(async () => {
    await server.stop();
  });

  async function connect(
    url = server.urlOf('alice'),
    sentPath: string | null = null,
  ): Promise<MailboxSession> {
    const session = await sourceOf(url, sentPath).connect('a', NEVER);
    open.push(session);
    return session;
  }

  /** A separate mailbox for each test, with these messages. */
  async function fill(name: string, messages: readonly Buffer[], user: MailUser = 'alice'): Promise<string> {
    await server.withClient(user, async (client) => {
      await client.mailboxCreate(name);
      for (const message of messages) await client.append(name, message);
    });
    return name;
  }

  const inMailbox = (name: string, use: (client: ImapFlow) => Promise<unknown>) =>
    server.withClient('alice', async (client) => {
      await client.mailboxOpen(name);
      await use(client);
    });

  it('lists the mailboxes that can be opened, with their special use', async () => {
    await fill('Kunden.Müller & Söhne', []);
    const session = await connect();
    const mailboxes = await session.listMailboxes();
    const uses = new Map(mailboxes.map(({ path, specialUse }) => [path, specialUse]));
    expect(uses.get('INBOX')).toBe('\\Inbox');
    expect(uses.get('Verschickt')).toBe('\\Sent');
    expect(uses.get('Papierkorb')).toBe('\\Trash');
    expect(uses.get('Kunden.Müller & Söhne')).toBeNull();
    // Kunden is only the parent of another one.
    expect(uses.has('Kunden')).toBe(false);
    await session.open('Kunden.Müller & Söhne', null);
  });

  it('takes the configured mailbox for the one with sent mail', async () => {
    await fill('Ausgang', []);
    const session = await connect(server.urlOf('alice'), 'Ausgang');
    const sent = (await session.listMailboxes()).filter(({ specialUse }) => specialUse === '\\Sent');
    expect(sent.map((mailbox) => mailbox.path)).toEqual(['Ausgang']);
  });

  it('lists messages without drafts, and reads blind copies', async () => {
    const name = await fill('drafts', [small('one')]);
    const blind = Buffer.from('Bcc: ada@customer.test\r\nX-Other: x\r\n\r\n');
    await server.withClient('alice', async (client) => {
      await client.append(name, small('two'), ['\\Draft']);
      await client.append(name, blind);
    });
    const session = await connect();
    await session.open(name, null);
    expect(await session.listUids(1, null)).toEqual([1, 2, 3]);
    expect(await session.listUids(1, null, false)).toEqual([1, 3]);
    expect(await session.listUids(2, new Date(0), false)).toEqual([3]);
    const [summary] = await collect(session.fetchSummaries([3], 'rules'));
    expect(summary).toMatchObject({ isHeaderWhole: true });
    expect(summary!.header.toString()).toBe('Bcc: ada@customer.test\r\n\r\n');
  });

  it('reads UIDs, summaries and messages, and marks nothing', async () => {
    const messages = ['one', 'two', 'three'].map(small);
    const name = await fill('reads', messages.slice(0, 2));
    await server.withClient('alice', (client) => client.append(name, messages[2]!, ['\\Seen']));
    const session = await connect();
    const opened = await session.open(name, null);
    expect(opened).toMatchObject({ uidNext: 4, exists: 3, vanished: null });
    expect(opened.uidValidity).toBeGreaterThan(0);
    expect(opened.highestModSeq).toBeGreaterThan(0n);

    expect(await session.listUids(1, null)).toEqual([1, 2, 3]);
    expect(await session.listUids(3, null)).toEqual([3]);
    expect(await session.listUids(4, null)).toEqual([]);
    expect(await session.listUids(1, new Date(Date.now() - 86_400_000))).toEqual([1, 2, 3]);
    expect(await session.listUids(1, new Date(Date.now() + 3 * 86_400_000))).toEqual([]);

    const summaries = await collect(session.fetchSummaries([3, 1, 77], 'trace'));
    expect(summaries.map(({ uid }) => uid)).toEqual([3, 1]);
    expect(summaries).toMatchObject([{ isSeen: true }, { sizeBytes: messages[0]!.length, isSeen: false }]);
    expect(Math.abs(summaries[1]!.internalDate!.getTime() - Date.now())).toBeLessThan(60_000);
    const header = summaries[1]!.header.toString();
    expect(header).toContain('Message-ID: <one@example.test>\r\n');
    expect(header).not.toContain('X-Other');
    const [forRules] = await collect(session.fetchSummaries([1], 'rules'));
    expect(forRules).toMatchObject({ uid: 1, isHeaderWhole: true });
    expect(forRules!.header.toString().match(/^[\w-]+(?=:)/gm)).toEqual(['Message-ID', 'From', 'Subject']);
    expect(header.endsWith('\r\n\r\n')).toBe(true);

    const fetched: [number, string][] = [];
    for await (const message of session.fetchMessages([3, 99, 1])) {
      fetched.push([message.uid, await readAll(message)]);
    }
    expect(fetched).toEqual([
      [3, messages[2]!.toString()],
      [1, messages[0]!.toString()],
    ]);

    await inMailbox(name, async (client) => {
      const flags = await client.fetchAll('1:*', { flags: true });
      expect(flags.map((message) => [...message.flags!].toSorted())).toEqual([
        ['\\Recent'],
        ['\\Recent'],
        ['\\Recent', '\\Seen'],
      ]);
    });
  });

  it('skips the parts of a message that the caller does not read', async () => {
    const name = await fill('skips', [
      Buffer.concat([small('big'), Buffer.alloc(3 * MIB, 'x')]),
      small('next'),
    ]);
    const session = await connect();
    await session.open(name, null);
    const seen: number[] = [];
    for await (const { uid, raw } of session.fetchMessages([1, 2])) {
      seen.push(uid);
      for await (const chunk of raw) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
    }
    expect(seen).toEqual([1, 2]);
    expect(await session.listUids(1, null)).toEqual([1, 2]);
  });

  it('says what vanished since the last time', async () => {
    const name = await fill('vanished', ['a', 'b', 'c', 'd'].map(small));
    const session = await connect();
    const before = await session.open(name, null);
    await inMailbox(name, (client) => client.messageDelete('2:3', { uid: true }));
    const known = { uidValidity: before.uidValidity, highestModSeq: before.highestModSeq };

    const again = await (await connect()).open(name, known);
    expect(again.vanished).toEqual([2, 3]);
    expect(again.exists).toBe(2);
    expect(again.highestModSeq).toBeGreaterThan(before.highestModSeq!);
    // In the same session too.
    expect((await session.open(name, known)).vanished).toEqual([2, 3]);
    const nothing = { uidValidity: again.uidValidity, highestModSeq: again.highestModSeq };
    expect((await session.open(name, nothing)).vanished).toEqual([]);
  });

  it('says nothing of what vanished when UIDVALIDITY changed', async () => {
    const name = await fill('validity', [small('a')]);
    const session = await connect();
    const before = await session.open(name, null);
    await session.close();
    await server.withClient('alice', async (client) => {
      await client.mailboxDelete(name);
      await client.mailboxCreate(name);
      await client.append(name, small('b'));
    });
    const again = await (
      await connect()
    ).open(name, {
      uidValidity: before.uidValidity,
      highestModSeq: before.highestModSeq,
    });
    expect(again.uidValidity).not.toBe(before.uidValidity);
    expect(again).toMatchObject({ vanished: null, exists: 1 });
  });

  it('refuses a mailbox that does not exist, and goes on', async () => {
    const session = await connect();
    expect(await failureOf(session.open('nowhere', null))).toMatchObject({ kind: 'refused' });
    expect((await session.open('INBOX', null)).exists).toBe(0);
  });

  it('leaves out what is expunged while it fetches', async () => {
    const name = await fill('expunged', ['a', 'b', 'c'].map(small));
    const session = await connect();
    await session.open(name, null);
    const uids: number[] = [];
    await inMailbox(name, (client) => client.messageDelete('1:2', { uid: true }));
    for await (const message of session.fetchMessages([1, 2, 3])) {
      expect(await readAll(message)).toContain('Body of c');
      uids.push(message.uid);
    }
    expect(uids).toEqual([3]);
    expect((await collect(session.fetchSummaries([1, 2, 3], 'trace'))).map(({ uid }) => uid)).toEqual([3]);
  });

  it('leaves out a message whose file is gone below the server', async () => {
    const name = await fill('lost', ['a', 'b', 'c'].map(small));
    const session = await connect();
    await session.open(name, null);
    // Dovecot still lists it, answers OK, and gives an empty text.
    await rm(await fileWith(path.join(server.root, 'mail/alice', `.${name}`), 'Body of b'));
    expect((await collect(session.fetchMessages([1, 2, 3]))).map(({ uid }) => uid)).toEqual([1, 3]);
  });

  it('finds the message that breaks the connection, and reads those beside it', async () => {
    const name = await fill('unreadable', ['a', 'b', 'c', 'd'].map(small));
    // Dovecot ends the session when it is asked for this message.
    await chmod(await fileWith(path.join(server.root, 'mail/alice', `.${name}`), 'Body of b'), 0);
    const source = sourceOf(server.urlOf('alice'));
    const wanted = new Set([4, 3, 2, 1]);
    const read: string[] = [];
    const culprits: (number | null)[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const session = await source.connect('a', NEVER);
      await session.open(name, null);
      try {
        for await (const message of session.fetchMessages([...wanted])) {
          read.push((await readAll(message)).slice(-11, -2));
          wanted.delete(message.uid);
        }
      } catch (error) {
        culprits.push((error as MailboxError).uid);
      }
      if (culprits.includes(2)) wanted.delete(2);
      await session.close();
    }
    expect(read.toSorted()).toEqual(['Body of a', 'Body of c', 'Body of d']);
    expect(culprits).toEqual([null, 2]);
  });

  it('waits for a new message, an expunge, and no longer than it may', async () => {
    const name = await fill('waits', [small('a')]);
    const session = await connect();
    expect(session.canIdle).toBe(true);
    await session.open(name, null);
    expect(await session.waitForChange(50, NEVER)).toBe('timeout');

    const arrival = session.waitForChange(LONG_MS, NEVER);
    await server.withClient('alice', (client) => client.append(name, small('b')));
    expect(await arrival).toBe('changed');
    expect(await session.listUids(2, null)).toEqual([2]);

    const expunge = session.waitForChange(LONG_MS, NEVER);
    await inMailbox(name, (client) => client.messageDelete('1', { uid: true }));
    expect(await expunge).toBe('changed');
    expect(await session.listUids(1, null)).toEqual([2]);

    // Changes of flags do not count.
    const flags = session.waitForChange(300, NEVER);
    await inMailbox(name, (client) => client.messageFlagsAdd('2', ['\\Seen'], { uid: true }));
    expect(await flags).toBe('timeout');
  });

  it('says at once what changed before it waited', async () => {
    const name = await fill('before', [small('a')]);
    const session = await connect();
    await session.open(name, null);
    await server.withClient('alice', (client) => client.append(name, small('b')));
    // The server mentions the new message along with the answer.
    await collect(session.fetchSummaries([1], 'trace'));
    await session.listUids(1, null);
    expect(await session.waitForChange(LONG_MS, NEVER)).toBe('changed');
    expect(await session.waitForChange(10, NEVER)).toBe('timeout');
  });

  it('renews IDLE, and still hears of changes', async () => {
    const name = await fill('renews', []);
    const session = await connect(`${server.urlOf('alice')}&idle_renew_ms=100`);
    await session.open(name, null);
    expect(await session.waitForChange(450, NEVER)).toBe('timeout');
    const arrival = session.waitForChange(LONG_MS, NEVER);
    await server.withClient('alice', (client) => client.append(name, small('b')));
    expect(await arrival).toBe('changed');
  });

  it('stops waiting when it is told to, and can be used or closed then', async () => {
    const session = await connect();
    await session.open('INBOX', null);
    const stop = new AbortController();
    const waiting = session.waitForChange(LONG_MS, stop.signal);
    setTimeout(() => stop.abort(), 50);
    expect(await waiting).toBe('stopped');
    expect(await session.waitForChange(LONG_MS, stop.signal)).toBe('stopped');
    expect(await session.waitForChange(100, NEVER)).toBe('timeout');
    expect(session.canIdle).toBe(true);
    expect(await session.listUids(1, null)).toEqual([]);
    await session.close();
    await session.close();
    expect(await failureOf(session.listMailboxes())).toMatchObject({ kind: 'connection' });
  });

  it('can be closed while it waits, and while it fetches', async () => {
    const name = await fill('closed', [Buffer.concat([small('big'), Buffer.alloc(3 * MIB, 'x')])]);
    const waiting = await connect();
    await waiting.open(name, null);
    const result = failureOf(waiting.waitForChange(LONG_MS, NEVER));
    await waiting.close();
    expect(await result).toMatchObject({ kind: 'connection' });

    const fetching = await connect();
    await fetching.open(name, null);
    const reading = failureOf(
      (async () => {
        for await (const message of fetching.fetchMessages([1])) {
          for await (const chunk of message.raw) {
            expect(chunk.length).toBe(MIB);
            await fetching.close();
          }
        }
      })(),
    );
    expect(await reading).toMatchObject({ kind: 'connection' });
  });

  it('logs in over STARTTLS and TLS, and checks the certificate', async () => {
    const login = `alice:${encodeURIComponent(MAIL_USERS.alice.password)}`;
    const ca = `tls_ca=${server.caFile}`;
    await connect(`imap://${login}@localhost:${server.imapPort}?starttls=required&${ca}`);
    await connect(`imaps://${login}@localhost:${server.imapsPort}?${ca}&auth_method=LOGIN`);
    await connect(`imaps://${login}@127.0.0.1:${server.imapsPort}?${ca}&auth_method=PLAIN`);
    await connect(`imaps://${login}@localhost:${server.imapsPort}?tls_verify=false`);
    const strange = `imaps://${login}@localhost:${server.imapsPort}`;
    expect(await failureOf(connect(strange))).toMatchObject({ kind: 'connection' });
    const otherName = `${strange}?${ca}&tls_servername=other.example`;
    expect(await failureOf(connect(otherName))).toMatchObject({ kind: 'connection' });
  });

  it('tells wrong credentials from a server that is unavailable', async () => {
    const wrong = await failureOf(
      connect(`imap://alice:wr0ng-secret@127.0.0.1:${server.imapPort}`.concat('?starttls=off')),
    );
    expect(wrong.kind).toBe('credentials');
    expect(wrong.message).not.toContain('wr0ng-secret');
    expect(await failureOf(connect('imap://a:b@127.0.0.1:1'))).toMatchObject({ kind: 'connection' });
  });

  it('can be stopped while it connects', async () => {
    const source = sourceOf(server.urlOf('alice'));
    const stop = new AbortController();
    const connecting = failureOf(source.connect('a', stop.signal));
    stop.abort();
    expect(await connecting).toMatchObject({ kind: 'connection' });
  });

  it('reads a message of 40 MiB with flat memory', async () => {
    const big = Buffer.concat([small('huge'), Buffer.alloc(40 * MIB, 'line of text\r\n')]);
    const name = await fill('huge', [big]);
    const session = await connect();
    await session.open(name, null);
    let bytes = 0;
    let highest = 0;
    const base = liveBytes();
    for await (const message of session.fetchMessages([1])) {
      for await (const chunk of message.raw) {
        expect(chunk.equals(big.subarray(bytes, bytes + chunk.length))).toBe(true);
        bytes += chunk.length;
        highest = Math.max(highest, liveBytes() - base);
      }
    }
    expect(bytes).toBe(big.length);
    // Measured: 3 MiB.
    expect(highest).toBeLessThan(8 * MIB);
  });
});

/** Memory still in use after garbage collection. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** The file of a Maildir that contains a text. */
async function fileWith(folder: string, text: string): Promise<string> {
  for (const part of ['cur', 'new']) {
    for (const name of await readdir(path.join(folder, part))) {
      const file = path.join(folder, part, name);
      if ((await readFile(file, 'utf8')).includes(text)) return file;
    }
  }
  throw new Error(`no file in ${folder} holds ${text}`);
}

describe.skipIf(skipWithoutMailServers())('a Dovecot that offers little', () => {
  let server: DovecotServer;
  beforeAll(async () => {
    server = await startDovecot({ settings: 'imap_capability = IMAP4rev1 SASL-IR LITERAL+ AUTH=PLAIN\n' });
  });
  afterAll(async () => {
    await server.stop();
  });

  it('is read without IDLE, CONDSTORE and special use', async () => {
    await server.withClient('alice', async (client) => {
      await client.mailboxCreate('Gesendete Objekte');
      await client.append('INBOX', small('a'));
    });
    const source = sourceOf(server.urlOf('alice'));
    const session = await source.connect('a', NEVER);
    expect(session.canIdle).toBe(false);
    expect(await session.listMailboxes()).toContainEqual({ path: 'Gesendete Objekte', specialUse: '\\Sent' });
    const opened = await session.open('INBOX', { uidValidity: 1, highestModSeq: 5n });
    expect(opened).toMatchObject({ exists: 1, vanished: null });
    expect(await session.waitForChange(30, NEVER)).toBe('timeout');
    await server.withClient('alice', (client) => client.append('INBOX', small('b')));
    // The NOOP after a wait reports it.
    await waitUntil(
      'the change is heard of',
      async () => (await session.waitForChange(1, NEVER)) === 'changed',
    );
    await session.close();
  });
});

describe.skipIf(skipWithoutMailServers())('a Dovecot that dies', () => {
  it('ends a fetch and a wait with an error, and can be connected to again', async () => {
    const server = await startDovecot();
    const source = sourceOf(server.urlOf('alice'));
    await server.withClient('alice', (client) =>
      client.append('INBOX', Buffer.concat([small('big'), Buffer.alloc(5 * MIB, 'x')])),
    );
    const [fetching, waiting] = [await source.connect('a', NEVER), await source.connect('a', NEVER)];
    await fetching.open('INBOX', null);
    await waiting.open('INBOX', null);
    const wait = failureOf(waiting.waitForChange(LONG_MS, NEVER));
    const fetch = failureOf(
      (async () => {
        for await (const message of fetching.fetchMessages([1])) {
          for await (const chunk of message.raw) {
            expect(chunk.length).toBe(MIB);
            await server.kill();
          }
        }
      })(),
    );
    expect(await fetch).toMatchObject({ kind: 'connection' });
    expect(await wait).toMatchObject({ kind: 'connection' });
    expect(await failureOf(fetching.listUids(1, null))).toMatchObject({ kind: 'connection' });
    await Promise.all([fetching.close(), waiting.close()]);
    expect(await failureOf(source.connect('a', NEVER))).toMatchObject({ kind: 'connection' });

    await server.start();
    const again = await source.connect('a', NEVER);
    await again.open('INBOX', null);
    const [message] = await collect(again.fetchSummaries([1], 'trace'));
    expect(message?.sizeBytes).toBeGreaterThan(5 * MIB);
    await again.close();
    await server.stop();
  });
});
