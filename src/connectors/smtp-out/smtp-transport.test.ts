/** Against a real server: envelopes, partial refusals, EHLO extensions, and files. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope } from '../../areas/send/transport-ports.ts';
import { Connection } from './smtp-connection.ts';
import { MessageStream } from './message-stream.ts';
import { useSmtpParts } from '../../../test/helpers/smtp-parts.ts';

const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test'] };
const RAW = Buffer.from('Subject: x\r\n\r\nHello\r\n.\r\n..two\r\n');
const SMALL: Content = { kind: 'bytes', bytes: RAW };

const { startReal: startServer, startScripted, connect } = useSmtpParts();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'smtp-out-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

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

  it.each([
    ['a server that offers DSN', ['DSN'], 'id@example.com', ' ENVID=id@example.com'],
    ['one that does not', ['SIZE'], 'id@example.com', ''],
    ['a server that offers DSN, but not an id it could not give back', ['DSN'], `${'x'.repeat(101)}@x`, ''],
    ['a server that offers DSN, but not one that breaks the line', ['DSN'], 'a\r\nRSET', ''],
  ])('tells its id to %s', async (_, extensions, envelopeId, said) => {
    const server = await startScripted({ extensions });
    const transport = connect(`smtp://127.0.0.1:${server.port}`);
    expect(await transport.send({ ...ENVELOPE, envelopeId }, SMALL)).toMatchObject({ kind: 'accepted' });
    const command = server.commands.find((one) => one.startsWith('MAIL'));
    expect(command?.replace(/ SIZE=\d+/, '')).toBe(`MAIL FROM:<sender@example.com>${said}`);
    expect(server.commands.filter((one) => one.startsWith('RSET'))).toEqual([]);
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

  it.each([1, 15, 16, 17, 32, 63, 64, 65, 200])('of %i kB arrives from memory', async (kilobytes) => {
    const bytes = Buffer.from(`Subject: x\r\n\r\n${`.${'x'.repeat(61)}\r\n`.repeat(kilobytes * 16)}`);
    const { port, taken } = await startServer();
    const transport = connect(`smtp://127.0.0.1:${port}?max_connections=1`);
    const content: Content = { kind: 'bytes', bytes };
    const results = await Promise.all([transport.send(ENVELOPE, content), transport.send(ENVELOPE, content)]);
    expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    expect(taken.map(({ data }) => data.equals(bytes))).toEqual([true, true]);
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

  it.each([
    ['small', 0],
    ['in a file', 100_000],
  ])(
    'with a header beyond ASCII is announced to a server with SMTPUTF8, and goes to others as before: %s',
    async (_, bodyBytes) => {
      const bytes = Buffer.from(
        `X: ${'x'.repeat(90_000)}\r\nSubject: Grüße\r\n\r\n${'x'.repeat(bodyBytes)}\r\n`,
      );
      const file = path.join(folder, `utf8-${bodyBytes}`);
      await writeFile(file, bytes);
      const content: Content =
        bodyBytes === 0 ? { kind: 'bytes', bytes } : { kind: 'file', path: file, sizeBytes: bytes.length };
      const modern = await startScripted({});
      expect((await connect(`smtp://127.0.0.1:${modern.port}`).send(ENVELOPE, content)).kind).toBe(
        'accepted',
      );
      expect(modern.commands.find((command) => command.startsWith('MAIL'))).toMatch(/>.* SMTPUTF8$/);
      expect(modern.accepted).toHaveLength(1);
      const old = await startScripted({ extensions: ['PIPELINING', '8BITMIME'] });
      expect((await connect(`smtp://127.0.0.1:${old.port}`).send(ENVELOPE, content)).kind).toBe('accepted');
      expect(old.commands.filter((command) => command.includes('SMTPUTF8'))).toEqual([]);
    },
  );

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
  ])('whose file is %s is put off before a connection is made', async (_, name, sizeBytes, detail) => {
    await writeFile(path.join(folder, 'short'), RAW);
    const server = await startScripted({});
    const content: Content = { kind: 'file', path: path.join(folder, name), sizeBytes };
    const result = await connect(`smtp://127.0.0.1:${server.port}`).send(ENVELOPE, content);
    expect(result).toMatchObject({
      kind: 'refused',
      temporary: true,
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
    // Runs between the first inspection of the file and DATA.
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
      '_createSendStream',
      '_sendCommand',
    ]) {
      expect(connection.library).toHaveProperty(name);
    }
  });

  it('pipes the message and ends it itself', async () => {
    // The point of no return is the end of our stream, so the library must not take the bytes another way.
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
