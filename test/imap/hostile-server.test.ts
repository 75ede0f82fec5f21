/** Broken and hostile servers: every command ends, with an error that describes the fault. */
import { afterEach, expect, it } from 'vitest';
import type { MailboxError, MailboxSession } from '../../src/areas/mailboxes/mailbox-ports.ts';
import {
  startScriptedImapServer,
  type ImapCommand,
  type ImapScript,
  type ScriptedImapServer,
} from '../helpers/scripted-imap-server.ts';
import { collect, failureOf, NEVER, readAll, sourceOf } from '../helpers/imap-sessions.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MIB = 1024 * 1024;
const LONG_MS = 60_000;

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function start(script: ImapScript): Promise<ScriptedImapServer> {
  const server = await startScriptedImapServer(script);
  cleanups.push(() => server.close());
  return server;
}

async function connectTo(
  { port }: ScriptedImapServer,
  query = 'command_timeout_ms=400&connect_timeout_ms=20000',
  host = '127.0.0.1',
): Promise<MailboxSession> {
  const session = await sourceOf(`imap://u:the-secret@${host}:${port}?${query}`).connect('a', NEVER);
  cleanups.push(() => session.close());
  return session;
}

async function connect(script: ImapScript): Promise<MailboxSession> {
  return connectTo(await start(script));
}

async function inInbox(script: ImapScript): Promise<MailboxSession> {
  const session = await connect(script);
  await session.open('INBOX', null);
  return session;
}

function* forEver(piece: string | Buffer, first: string = ''): Generator<string | Buffer> {
  if (first !== '') yield first;
  for (;;) yield piece;
}

async function* drip(piece: string): AsyncGenerator<string> {
  for (;;) {
    yield piece;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const sizes = ({ tag }: ImapCommand, size: number) =>
  `${[1, 2, 3].map((uid) => `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${size})\r\n`).join('')}${tag} OK done\r\n`;
const isSizes = ({ args }: ImapCommand) => args.includes('RFC822.SIZE') && !args.includes('BODY');
const literal = (text: string) => `{${Buffer.byteLength(text)}}\r\n${text}`;

it('works with the script alone', async () => {
  const session = await inInbox({});
  expect(await session.listUids(1, null)).toEqual([1, 2, 3]);
  expect(await session.listMailboxes()).toEqual([{ path: 'INBOX', specialUse: '\\Inbox' }]);
});

const SCRIPTS: readonly (readonly [string, ImapScript])[] = [
  ['that closes at once', { CONNECT: () => '* BYE too busy\r\n' }],
  ['that says nothing', { CONNECT: () => null }],
  ['that never ends its greeting', { CONNECT: () => drip('x') }],
  ['that sends a line without an end', { CONNECT: () => forEver(Buffer.alloc(MIB, 'x'), '* OK ') }],
  ['that sends lines without an end', { CAPABILITY: () => forEver('* OK still here\r\n'.repeat(1000)) }],
  ['that speaks another language', { CONNECT: () => '220 mail.example.com ESMTP\r\n' }],
  ['that stays silent at the login', { AUTHENTICATE: () => null }],
];
it.each(SCRIPTS)('gives up on a server %s', async (_, script) => {
  const query = 'command_timeout_ms=400&connect_timeout_ms=2000';
  const error = await failureOf(connectTo(await start(script), query));
  expect(error.kind).toBe('connection');
});

it.each<readonly [string, string, MailboxError['kind']]>([
  ['NO [AUTHENTICATIONFAILED] the-secret is wrong', 'credentials', 'credentials'],
  ['NO LOGIN failed.', 'credentials', 'credentials'],
  ['NO [UNAVAILABLE] Temporary authentication failure.', 'a passing trouble', 'connection'],
  ['NO [ALERT] Too many simultaneous connections. (Failure)', 'a passing trouble', 'connection'],
  ['NO [LIMIT] Rate limit hit', 'a passing trouble', 'connection'],
  ['BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds', 'a passing trouble', 'connection'],
])('takes "%s" at the login for %s', async (answer, _, kind) => {
  const script: ImapScript = {
    AUTHENTICATE: ({ tag, args }) => (args.includes(' ') ? `${tag} ${answer}\r\n` : '+ \r\n'),
    CONTINUED: ({ tag }) => `${tag} ${answer}\r\n`,
  };
  const error = await failureOf(connect(script));
  expect(error.kind).toBe(kind);
  expect(error.message).not.toContain('the-secret');
});

it.each([
  ['starttls=required', '127.0.0.1'],
  // Not a loopback address for the URL, even though it leads to one.
  ['starttls=if_offered', '[::ffff:127.0.0.1]'],
  ['tls_verify=false', '[::ffff:127.0.0.1]'],
])('sends no credentials without TLS, with %s to %s', async (query, host) => {
  const server = await start({});
  const error = await failureOf(connectTo(server, query, host));
  expect(error.kind).toBe('connection');
  expect(server.commands.filter((line) => /LOGIN|AUTHENTICATE/.test(line))).toEqual([]);
});

it('sends them when it is told to', async () => {
  const server = await start({});
  await connectTo(server, 'allow_plaintext_auth=true', '[::ffff:127.0.0.1]');
  expect(server.commands.some((line) => line.includes('AUTHENTICATE PLAIN'))).toBe(true);
});

it.each<readonly [string, () => ReturnType<ImapScript[string]>]>([
  ['says nothing', () => null],
  ['never ends a line', () => forEver(Buffer.alloc(MIB, '1 '), '* SEARCH ')],
  ['announces a literal that is too large', () => '* SEARCH {99999999999}\r\n'],
  ['never ends a literal', () => '* SEARCH {1000000}\r\nabc'],
  ['nests without an end', () => `* SEARCH ${'('.repeat(1_000_000)}\r\n`],
  ['floods with words', () => `* SEARCH ${'a '.repeat(1_000_000)}\r\n`],
  ['answers another command', () => 'ZZZZ OK done\r\n'],
  ['says goodbye', () => '* BYE see you\r\n'],
])('ends a session when the server %s', async (_, answer) => {
  const session = await inInbox({ 'UID SEARCH': answer });
  expect((await failureOf(session.listUids(1, null))).kind).toBe('connection');
  expect((await failureOf(session.listUids(1, null))).kind).toBe('connection');
});

it('ends a session when the list of mailboxes does not end', async () => {
  const session = await connect({
    LIST: ({ args }) =>
      args.includes('*') ? forEver(`* LIST () "/" ${'x'.repeat(2000)}\r\n`.repeat(100)) : undefined,
  });
  const before = process.memoryUsage().heapUsed;
  expect(await failureOf(session.listMailboxes())).toMatchObject({ kind: 'connection' });
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * MIB);
});

it('names itself when the server asks for an ID', async () => {
  const server = await start({
    CAPABILITY: ({ tag }) => `* CAPABILITY IMAP4rev1 ID AUTH=PLAIN\r\n${tag} OK done\r\n`,
    ID: ({ tag }) => `* ID ("name" "x" "version" "1")\r\n${tag} OK done\r\n`,
  });
  await connectTo(server);
  expect(server.commands.some((line) => line.endsWith(' ID ("name" "email-worker")'))).toBe(true);
});

it('ignores invalid UIDs', async () => {
  const session = await inInbox({
    'UID SEARCH': ({ tag }) => `* SEARCH 0 5 -1 4294967296 3 3 2\r\n${tag} OK done\r\n`,
  });
  expect(await session.listUids(3, null)).toEqual([3, 5]);
});

it('tells a refusal from a broken line', async () => {
  const session = await inInbox({ 'UID SEARCH': ({ tag }) => `${tag} NO [CANNOT] not today\r\n` });
  expect((await failureOf(session.listUids(1, null))).kind).toBe('refused');
  expect(await session.open('INBOX', null)).toMatchObject({ exists: 3 });
});

it.each([
  '',
  '* OK [UIDVALIDITY 0] x\r\n',
  '* OK [UIDVALIDITY 4294967296] x\r\n',
  '* OK [UIDVALIDITY x] x\r\n',
])('refuses a mailbox without a valid UIDVALIDITY: %j', async (line) => {
  const session = await connect({ EXAMINE: ({ tag }) => `* 3 EXISTS\r\n${line}${tag} OK done\r\n` });
  expect((await failureOf(session.open('INBOX', null))).kind).toBe('refused');
});

it('compares the lists when too many messages vanished', async () => {
  const server = await start({
    EXAMINE: ({ tag }) =>
      `* 3 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [HIGHESTMODSEQ 9] x\r\n* VANISHED (EARLIER) 1:4294967295\r\n${tag} OK done\r\n`,
  });
  const session = await connectTo(server);
  const opened = await session.open('INBOX', { uidValidity: 7, highestModSeq: 5n });
  expect(opened).toMatchObject({ exists: 3, vanished: null });
});

it('takes only the messages that it asked for', async () => {
  const body = (uid: number | string, text: string) =>
    `* 1 FETCH (UID ${uid} BODY[]<0> ${literal(text)})\r\n`;
  const session = await inInbox({
    'UID FETCH': (command) =>
      isSizes(command)
        ? sizes(command, 5)
        : `${body(9, 'wrong')}${body(0, 'wrong')}${body('x', 'wrong')}* 1 FETCH (BODY[]<0> ${literal('wrong')})\r\n` +
          `${body(2, 'two')}${body(2, 'again')}* 2 FETCH (UID 2 FLAGS ())\r\n${body(1, 'one')}${command.tag} OK done\r\n`,
  });
  const messages: [number, string][] = [];
  for await (const message of session.fetchMessages([1, 2]))
    messages.push([message.uid, await readAll(message)]);
  expect(messages).toEqual([
    [1, 'one'],
    [2, 'two'],
  ]);
});

it('ends a fetch that goes on with messages that were not asked for', async () => {
  const session = await inInbox({
    'UID FETCH': (command) =>
      isSizes(command)
        ? sizes(command, 5)
        : forEver(`* 9 FETCH (UID 99 BODY[]<0> ${literal('x'.repeat(60_000))})\r\n`),
  });
  const error = await failureOf(collect(session.fetchMessages([1])));
  expect(error).toMatchObject({ kind: 'connection', uid: 1 });
});

it('reads on when a message is larger than the server said', async () => {
  const text = 'y'.repeat(3 * MIB + 17);
  const session = await inInbox({
    'UID FETCH': (command) => {
      if (isSizes(command)) return sizes(command, 10);
      const [, offset = '0', count = '0'] = /<(\d+)\.(\d+)>/.exec(command.args) ?? [];
      const piece = text.slice(Number(offset), Number(offset) + Number(count));
      return `* 1 FETCH (UID 1 BODY[]<${offset}> ${literal(piece)})\r\n${command.tag} OK done\r\n`;
    },
  });
  const [message] = await collect(session.fetchMessages([1]));
  expect((await readAll(message!)) === text).toBe(true);
});

it.each<readonly [string, number, (offset: number, count: number) => string]>([
  ['gives more than was asked for', 10, (_, count) => literal('z'.repeat(count + 1))],
  ['gives a large one whole', MIB, () => literal('z'.repeat(2 * MIB))],
  ['gives nothing', MIB, () => '""'],
  ['gives NIL', MIB, () => 'NIL'],
])('fails one message when the server %s of it', async (_, size, answer) => {
  const session = await inInbox({
    'UID FETCH': (command) => {
      if (isSizes(command)) return sizes(command, size);
      const [, offset = '0', count = '0'] = /<(\d+)\.(\d+)>/.exec(command.args) ?? [];
      return `* 1 FETCH (UID 1 BODY[]<${offset}> ${answer(Number(offset), Number(count))})\r\n${command.tag} OK done\r\n`;
    },
  });
  const [message] = await collect(session.fetchMessages([1]));
  expect(await failureOf(readAll(message!))).toMatchObject({ kind: 'refused' });
  expect(await session.listUids(1, null)).toEqual([1, 2, 3]);
});

it('fails one message that the server refuses, and reads the others', async () => {
  const session = await inInbox({
    'UID FETCH': (command) => {
      if (isSizes(command)) return sizes(command, 5);
      if (/^(2|1:3) /.test(command.args)) return `${command.tag} NO [SERVERBUG] can not read it\r\n`;
      const uid = command.args.split(' ')[0];
      return `* 1 FETCH (UID ${uid} BODY[]<0> ${literal(`m${uid}`)})\r\n${command.tag} OK done\r\n`;
    },
  });
  const results: unknown[] = [];
  for await (const message of session.fetchMessages([3, 2, 1])) {
    results.push([message.uid, await readAll(message).catch((error: MailboxError) => error.kind)]);
  }
  expect(results).toEqual([
    [3, 'm3'],
    [2, 'refused'],
    [1, 'm1'],
  ]);
});

it('says of a message what the server gives, without its header when that is refused', async () => {
  const session = await inInbox({
    'UID FETCH': ({ tag, args }) => {
      if (args.includes('BODY')) return `${tag} BAD no header\r\n`;
      return `* 2 FETCH (UID 2 FLAGS (\\SEEN) RFC822.SIZE 12 INTERNALDATE "nonsense")\r\n${tag} OK done\r\n`;
    },
    'UID SEARCH': ({ tag }) => `* SEARCH 2\r\n${tag} OK done\r\n`,
  });
  expect(await collect(session.fetchSummaries([1, 2], 'trace'))).toEqual([
    {
      uid: 2,
      internalDate: null,
      sizeBytes: 12,
      isSeen: true,
      header: Buffer.from('\r\n'),
      isHeaderWhole: false,
    },
  ]);
});

it('cuts header fields that are too long', async () => {
  const session = await inInbox({
    'UID FETCH': ({ tag }) =>
      `* 1 FETCH (UID 1 BODY[HEADER.FIELDS (SUBJECT)] ${literal(`Subject: ${'s'.repeat(5 * MIB)}\r\n\r\n`)})\r\n${tag} OK done\r\n`,
  });
  const [summary] = await collect(session.fetchSummaries([1], 'trace'));
  expect(summary?.isHeaderWhole).toBe(false);
  expect(summary?.header.length).toBeLessThan(70_000);
  expect(summary?.header.toString().endsWith('\r\n\r\n')).toBe(true);
});

it.each<readonly [string, ImapScript]>([
  ['never takes up', { IDLE: () => null }],
  ['takes up, and then is silent for ever', { DONE: () => null, NOOP: () => null }],
])('notices a dead line when the server %s IDLE', async (_, script) => {
  const server = await start(script);
  const session = await connectTo(server, 'command_timeout_ms=200&idle_renew_ms=100');
  await session.open('INBOX', null);
  expect(await failureOf(session.waitForChange(LONG_MS, NEVER))).toMatchObject({ kind: 'connection' });
  await waitUntil('the line is closed', () => server.open === 0);
});

it.each<readonly [string, ImapScript]>([
  ['refuses', { IDLE: ({ tag }) => `${tag} BAD unknown command\r\n` }],
  ['ends at once', { IDLE: ({ tag }) => `+ idling\r\n${tag} OK done\r\n` }],
])('asks from time to time when the server %s IDLE', async (_, script) => {
  const server = await start({ ...script, DONE: ({ tag }) => `${tag} OK done\r\n` });
  const session = await connectTo(server);
  await session.open('INBOX', null);
  expect(session.canIdle).toBe(true);
  expect(await session.waitForChange(300, NEVER)).toBe('timeout');
  expect(session.canIdle).toBe(false);
  expect(server.commands.filter((line) => line.endsWith(' IDLE')).length).toBe(1);
  expect(server.commands.filter((line) => line.endsWith(' NOOP')).length).toBeLessThan(5);
});

it('is closed while the server is silent', async () => {
  const server = await start({ LOGOUT: () => null });
  const session = await connectTo(server, 'command_timeout_ms=600000');
  await expect(session.close()).resolves.toBeUndefined();
  await waitUntil('the line is closed', () => server.open === 0);
});
