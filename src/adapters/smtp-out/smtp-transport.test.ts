/** Against smtp-server, a real server: TLS, AUTH, partial refusals, what EHLO offers, and files. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../test/helpers/certificate.ts';
import { CLOSE, startScriptedServer } from '../../../test/helpers/scripted-smtp-server.ts';
import type { Reaction, ScriptedServerOptions } from '../../../test/helpers/scripted-smtp-server.ts';
import type { Content, Envelope, Logger, Transport } from '../../app/ports.ts';
import { Connection } from './smtp-connection.ts';
import { MessageStream } from './message-stream.ts';
import { createSmtpTransport } from './smtp-transport.ts';
import { parseSmtpUrl } from './smtp-url.ts';

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test'] };
const RAW = Buffer.from('Subject: x\r\n\r\nHello\r\n.\r\n..two\r\n');
const SMALL: Content = { kind: 'bytes', bytes: RAW };

interface Taken {
  readonly mailFrom: string;
  readonly mailArguments: unknown;
  readonly rcptTo: readonly string[];
  readonly data: Buffer;
  readonly secure: boolean;
  readonly user: string | undefined;
}

const open: { close(): Promise<unknown> }[] = [];
let folder: string;
let tls: { cert: string; key: string };
let caFile: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'smtp-out-'));
  tls = createCertificate();
  caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, tls.cert);
});

afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function startServer(options: SMTPServerOptions = {}): Promise<{ port: number; taken: Taken[] }> {
  const taken: Taken[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    size: 50_000_000,
    disabledCommands: ['STARTTLS', 'AUTH'],
    ...tls,
    onAuth: ({ username, password }, _, done) => {
      if (username === 'alice' && password === 'hush: ü@/') done(null, { user: username });
      else done(new Error('Invalid username or password'));
    },
    onRcptTo: ({ address }, _, done) => {
      const code = { u: 550, f: 452 }[address[0]!];
      done(code === undefined ? null : Object.assign(new Error('5.1.1 Not here'), { responseCode: code }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        if (mailFrom === false) throw new Error('no sender');
        taken.push({
          mailFrom: mailFrom.address,
          mailArguments: mailFrom.args,
          rcptTo: rcptTo.map(({ address }) => address),
          data: Buffer.concat(chunks),
          secure: session.secure,
          user: session.user,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve(undefined))) });
  return { port: (server.server.address() as AddressInfo).port, taken };
}

async function startScripted(options: ScriptedServerOptions): ReturnType<typeof startScriptedServer> {
  const server = await startScriptedServer(options);
  open.push(server);
  return server;
}

function connect(url: string): Transport {
  const transport = createSmtpTransport({ ...parseSmtpUrl(url), logger: SILENT });
  open.unshift(transport);
  return transport;
}

const LOGIN = `alice:${encodeURIComponent('hush: ü@/')}@`;

describe('a message', () => {
  it('arrives byte for byte, with its envelope', async () => {
    const { port, taken } = await startServer();
    const result = await connect(`smtp://127.0.0.1:${port}`).send(
      { mailFrom: null, rcptTo: ['a@example.test', 'b@example.test'] },
      SMALL,
    );
    expect(result).toMatchObject({ kind: 'accepted', reply: { code: 250 }, relayMessageId: null });
    expect(result.recipients).toEqual([
      { address: 'a@example.test', state: 'accepted', reply: result.reply },
      { address: 'b@example.test', state: 'accepted', reply: result.reply },
    ]);
    expect(taken).toMatchObject([{ mailFrom: '', rcptTo: ['a@example.test', 'b@example.test'], data: RAW }]);
  });

  it('arrives from a file larger than any buffer', async () => {
    const bytes = Buffer.from(`Subject: big\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(80_000)}.\r\n..\r\n`);
    const file = path.join(folder, 'big');
    await writeFile(file, bytes);
    const { port, taken } = await startServer();
    const content: Content = { kind: 'file', path: file, sizeBytes: bytes.length };
    const result = await connect(`smtp://127.0.0.1:${port}`).send(ENVELOPE, content);
    expect(result.kind).toBe('accepted');
    expect(taken[0]!.data.equals(bytes)).toBe(true);
  });

  it('gets an outcome for each recipient', async () => {
    const { port, taken } = await startServer();
    const rcptTo = ['unknown@example.test', 'a@example.test', 'full@example.test', 'b@example.test'];
    const result = await connect(`smtp://127.0.0.1:${port}`).send({ ...ENVELOPE, rcptTo }, SMALL);
    expect(result).toMatchObject({
      kind: 'accepted',
      detail: expect.stringContaining('2 of 4 recipients refused'),
    });
    expect(result.recipients).toMatchObject([
      {
        address: rcptTo[0],
        state: 'rejected',
        reply: { code: 550, enhancedStatus: '5.1.1', text: 'Not here' },
      },
      { address: rcptTo[1], state: 'accepted', reply: { code: 250 } },
      { address: rcptTo[2], state: 'deferred', reply: { code: 452 } },
      { address: rcptTo[3], state: 'accepted', reply: { code: 250 } },
    ]);
    expect(taken).toMatchObject([{ rcptTo: [rcptTo[1], rcptTo[3]] }]);
  });

  it.each([
    ['8-bit text', 'Subject: x\r\n\r\nGrüße\r\n', { BODY: '8BITMIME' }],
    ['7-bit text', 'Subject: x\r\n\r\nHello\r\n', {}],
  ])('of %s is announced as such', async (_, text, expected) => {
    const { port, taken } = await startServer();
    const bytes = Buffer.from(text);
    await connect(`smtp://127.0.0.1:${port}`).send(ENVELOPE, { kind: 'bytes', bytes });
    expect(taken[0]!.mailArguments).toEqual({ ...expected, SIZE: String(bytes.length) });
    expect(taken[0]!.data).toEqual(bytes);
  });

  it('to an internationalised address goes to a server with SMTPUTF8 only', async () => {
    const envelope = { ...ENVELOPE, rcptTo: ['a@example.test', 'grüße@example.test'] };
    const modern = await startScripted({});
    expect((await connect(`smtp://127.0.0.1:${modern.port}`).send(envelope, SMALL)).kind).toBe('accepted');
    expect(modern.commands.find((command) => command.startsWith('MAIL'))).toMatch(/ SMTPUTF8/);
    expect(modern.accepted).toMatchObject([{ rcptTo: envelope.rcptTo }]);
    const old = await startScripted({ extensions: ['PIPELINING'] });
    const result = await connect(`smtp://127.0.0.1:${old.port}`).send(envelope, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: false });
    expect(result.detail).toMatch(/SMTPUTF8.*grüße@example\.test/);
    expect(result.recipients.map(({ state }) => state)).toEqual(['rejected', 'rejected']);
    expect(old.commands.filter((command) => command.startsWith('MAIL'))).toEqual([]);
  });

  it('larger than the server takes is not sent', async () => {
    const server = await startScripted({ extensions: ['SIZE 20'] });
    const transport = connect(`smtp://127.0.0.1:${server.port}?max_connections=1`);
    const result = await transport.send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: false });
    expect(result.detail).toMatch(/31 bytes.*20 at most/);
    const fits = await transport.send(ENVELOPE, {
      kind: 'bytes',
      bytes: Buffer.from('Subject: 1\r\n\r\n1\r\n'),
    });
    expect(fits.kind).toBe('accepted');
    expect(server.connections).toBe(1);
  });

  it('carries the Message-ID that the relay says it gave', async () => {
    const dot = '250 2.0.0 OK <X@AM0.eurprd01.prod.outlook.com> [Hostname=AM0]\r\n';
    const server = await startScripted({ script: { dot: () => dot } });
    const result = await connect(`smtp://127.0.0.1:${server.port}`).send(ENVELOPE, SMALL);
    expect(result.relayMessageId).toBe('X@AM0.eurprd01.prod.outlook.com');
  });

  it.each([
    ['no recipient', { mailFrom: 'a@example.com', rcptTo: [] }],
    [
      'a line break in a recipient',
      { mailFrom: 'a@example.com', rcptTo: ['a@example.test\r\nRCPT TO:<x@y.test>'] },
    ],
    ['a bracket in the sender', { mailFrom: 'a@example.com> SIZE=1 <', rcptTo: ['a@example.test'] }],
  ])('with %s is refused before a connection is made', async (_, envelope) => {
    const server = await startScripted({});
    const result = await connect(`smtp://127.0.0.1:${server.port}`).send(envelope, SMALL);
    expect(result).toMatchObject({ kind: 'refused', reply: null });
    expect(server.connections).toBe(0);
  });

  it.each([
    ['missing', 'nowhere', 5, /missing/],
    ['shorter than announced', 'short', 500, /another size/],
    ['longer than announced', 'short', 5, /another size/],
  ])('whose file is %s is refused before a connection is made', async (_, name, sizeBytes, detail) => {
    await writeFile(path.join(folder, 'short'), RAW);
    const server = await startScripted({});
    const content: Content = { kind: 'file', path: path.join(folder, name), sizeBytes };
    const result = await connect(`smtp://127.0.0.1:${server.port}`).send(ENVELOPE, content);
    expect(result).toMatchObject({
      kind: 'refused',
      temporary: false,
      detail: expect.stringMatching(detail),
    });
    expect(server.connections).toBe(0);
  });

  it('whose file shrinks on the way never gets its dot', async () => {
    const file = path.join(folder, 'shrinking');
    const sizeBytes = 2_000_000;
    await writeFile(file, 'x'.repeat(76).concat('\r\n').repeat(30_000).slice(0, sizeBytes));
    const server = await startScripted({});
    const transport = connect(`smtp://127.0.0.1:${server.port}`);
    const original = Connection.prototype.run;
    // The moment between the first look at the file and DATA.
    Connection.prototype.run = async function run(start) {
      await truncate(file, 1_000_000);
      return original.call(this, start) as never;
    };
    const sending = transport.send(ENVELOPE, { kind: 'file', path: file, sizeBytes });
    const result = await sending.finally(() => {
      Connection.prototype.run = original;
    });
    expect(result).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/during.*another size/) });
    expect(server.received).toHaveLength(0);
    await expect.poll(() => server.open).toBe(0);
  });
});

describe('TLS', () => {
  it.each([
    ['smtp', 'starttls=required', true],
    ['smtp', 'starttls=if_offered', true],
    ['smtp', 'starttls=off', false],
    ['smtps', 'name=client.example', true],
  ])('is used as %s:// with %s says', async (protocol, query, secure) => {
    const { port, taken } = await startServer({ secure: protocol === 'smtps', disabledCommands: [] });
    const transport = connect(`${protocol}://${LOGIN}localhost:${port}?tls_ca=${caFile}&${query}`);
    const result = await transport.send(ENVELOPE, SMALL);
    // smtp-server takes no AUTH in plain text.
    expect(result.kind).toBe(secure ? 'accepted' : 'refused');
    expect(taken.map((message) => [message.secure, message.user])).toEqual(secure ? [[true, 'alice']] : []);
    const verified = await transport.verify().then(
      () => true,
      () => false,
    );
    expect(verified).toBe(secure);
  });

  it.each([
    ['an unknown authority', {}, '', /self-signed certificate/],
    ['another name', { names: ['other.example'] }, 'tls_ca', /Hostname\/IP does not match/],
    ['a time that is over', { notAfter: new Date(Date.now() - 1000) }, 'tls_ca', /expired/],
  ])('refuses a certificate with %s, unless told not to look', async (_, options, trust, detail) => {
    const certificate = createCertificate(options);
    const ca = path.join(folder, `${trust}-${Object.keys(options).join()}.pem`);
    await writeFile(ca, certificate.cert);
    for (const [protocol, secure] of [
      ['smtp', false],
      ['smtps', true],
    ] as const) {
      const { port, taken } = await startServer({ secure, disabledCommands: ['AUTH'], ...certificate });
      const url = `${protocol}://localhost:${port}?${trust ? `tls_ca=${ca}` : 'starttls=required'.slice(0, secure ? 0 : 99)}`;
      const strict = connect(url);
      const result = await strict.send(ENVELOPE, SMALL);
      expect(result).toMatchObject({
        kind: 'refused',
        temporary: true,
        detail: expect.stringMatching(detail),
      });
      await expect(strict.verify()).rejects.toThrow(detail);
      expect(taken).toEqual([]);
      const lenient = connect(`${protocol}://localhost:${port}?tls_verify=false`);
      expect((await lenient.send(ENVELOPE, SMALL)).kind).toBe('accepted');
      expect(taken).toMatchObject([{ secure: true }]);
    }
  });

  it('is 1.2 or later', async () => {
    const { port } = await startServer({
      secure: true,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    } as SMTPServerOptions);
    const result = await connect(`smtps://localhost:${port}?tls_verify=false`).send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: true });
  });

  it('that is required and not offered stops the message', async () => {
    const server = await startScripted({ script: { starttls: () => '502 5.5.1 No such command\r\n' } });
    const result = await connect(`smtp://127.0.0.1:${server.port}?starttls=required`).send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: true, reply: { code: 502 } });
    expect(server.commands.some((command) => command.startsWith('MAIL'))).toBe(false);
  });

  it('that fails is not replaced by plain text', async () => {
    const script = { starttls: () => '454 4.7.0 Not now\r\n' };
    const server = await startScripted({ script, certificate: tls });
    const result = await connect(`smtp://127.0.0.1:${server.port}`).send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: true, reply: { code: 454 } });
    expect(server.received).toEqual([]);
  });

  it('forgets what was said in plain text behind the answer to STARTTLS', async () => {
    const injected = '220 2.0.0 Go\r\n250-evil.test\r\n250 AUTH PLAIN\r\n';
    const server = await startScripted({
      script: { starttls: () => injected },
      certificate: tls,
      extensions: ['PIPELINING'],
    });
    const transport = connect(`smtp://${LOGIN}localhost:${server.port}?tls_ca=${caFile}`);
    const result = await transport.send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/offers no AUTH/) });
    expect(server.commands.some((command) => /AUTH|MAIL/.test(command))).toBe(false);
  });
});

describe('credentials', () => {
  it('are refused with a temporary result, as that says nothing about the message', async () => {
    const { port, taken } = await startServer({ disabledCommands: [] });
    const transport = connect(`smtp://alice:wrong-hush@localhost:${port}?tls_ca=${caFile}`);
    const result = await transport.send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', temporary: true, reply: { code: 535 } });
    expect(result.detail).toMatch(/AUTH PLAIN was refused: 535/);
    await expect(transport.verify()).rejects.toThrow(/535/);
    expect(taken).toEqual([]);
  });

  it.each(['PLAIN', 'LOGIN', 'CRAM-MD5'])('work with %s', async (method) => {
    const { port, taken } = await startServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authMethods: [method],
      onAuth: (auth, _, done) => {
        const right = auth.password === 'hush: ü@/' || auth.validatePassword('hush: ü@/');
        done(right ? null : new Error('no'), right ? { user: auth.username } : undefined);
      },
    });
    const transport = connect(`smtp://${LOGIN}localhost:${port}?auth_method=${method}`);
    expect((await transport.send(ENVELOPE, SMALL)).kind).toBe('accepted');
    expect(taken).toMatchObject([{ user: 'alice' }]);
  });

  it('are not sent in plain text to another host, unless allowed', async () => {
    // 0.0.0.0 reaches this machine but is not a loopback address.
    const server = await startScripted({ extensions: ['AUTH PLAIN'] });
    const result = await connect(`smtp://${LOGIN}0.0.0.0:${server.port}`).send(ENVELOPE, SMALL);
    expect(result).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/no TLS.*not sent/) });
    expect(server.commands.some((command) => command.startsWith('AUTH'))).toBe(false);
    const allowed = connect(`smtp://${LOGIN}0.0.0.0:${server.port}?allow_plaintext_auth=true`);
    expect((await allowed.send(ENVELOPE, SMALL)).kind).toBe('accepted');
  });

  it('never show in a result, whatever the server says', async () => {
    const echo = ({ command }: { command: string }): string => `535 5.7.8 ${command} hush: ü@/\r\n`;
    const server = await startScripted({ script: { auth: echo }, extensions: ['AUTH PLAIN'] });
    const transport = connect(`smtp://${LOGIN}127.0.0.1:${server.port}`);
    const text = JSON.stringify(await transport.send(ENVELOPE, SMALL));
    expect(text).toContain('AUTH PLAIN ***');
    expect(text).not.toContain('hush');
    expect(text).not.toContain(Buffer.from('\0alice\0hush: ü@/').toString('base64'));
  });

  it.each<[string, Reaction]>([
    ['the line is closed', CLOSE],
    ['a challenge never ends', '334 \r\n'],
  ])('do not hang when %s', async (_, reaction) => {
    const server = await startScripted({ script: { auth: () => reaction }, extensions: ['AUTH PLAIN'] });
    const transport = connect(`smtp://${LOGIN}127.0.0.1:${server.port}?command_timeout_ms=200`);
    expect(await transport.send(ENVELOPE, SMALL)).toMatchObject({ kind: 'refused', temporary: true });
  });
});

describe('nodemailer', () => {
  it('still has the private fields that smtp-connection.ts reads', () => {
    const connection = new Connection({ host: '127.0.0.1' });
    expect(connection.supports('SMTPUTF8')).toBe(false);
    expect(connection.maxSizeBytes).toBeNull();
    expect(connection.inStep).toBe(true);
    for (const name of [
      '_supportedExtensions',
      '_maxAllowedSize',
      '_responseQueue',
      '_remainder',
      '_socket',
    ]) {
      expect(connection.library).toHaveProperty(name);
    }
  });

  it('pipes the message and ends it itself', async () => {
    // The moment of no return is the end of our stream, so the library must not take the bytes another way.
    const seen: string[] = [];
    const stream = new MessageStream(
      SMALL,
      () => null,
      () => seen.push('handed over'),
    );
    stream.on('end', () => seen.push('end'));
    expect(stream.handedOver).toBe(false);
    await stream.forEach((chunk: Buffer) => {
      seen.push(chunk.toString().slice(0, 7));
    });
    expect(seen).toEqual(['Subject', 'handed over', 'end']);
  });
});
