/** The pool through the transport: how many connections it opens, which messages wait, and how they end. */
import { describe, expect, it } from 'vitest';
import {
  RESET,
  SILENCE,
  startScriptedServer,
  type Script,
  type ScriptedServer,
} from '../../../test/helpers/scripted-smtp-server.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, Transport, TransportResult } from '../../areas/send/transport-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { useSmtpParts } from '../../../test/helpers/smtp-parts.ts';

const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test'] };
const message = (number: number): Content => ({
  kind: 'bytes',
  bytes: Buffer.from(`Subject: ${number}\r\n\r\n`),
});

const { startScripted, connect: connectTo } = useSmtpParts();

const start = (script: Script = {}) => startScripted({ script });
const LIMITS = { connectTimeoutMs: 10_000, commandTimeoutMs: 10_000, dataTimeoutMs: 10_000 };
const connect = (port: number, query: string, logger?: Logger) =>
  connectTo(`smtp://127.0.0.1:${port}?${query}`, LIMITS, logger);

const sendMany = (transport: Transport, count: number): Promise<readonly TransportResult[]> =>
  Promise.all(Array.from({ length: count }, (_, number) => transport.send(ENVELOPE, message(number))));

const kinds = (results: readonly TransportResult[]): readonly string[] => [
  ...new Set(results.map(({ kind }) => kind)),
];

const subjects = (server: ScriptedServer): readonly string[] =>
  server.accepted.map(({ data }) => data.toString().trim());

describe('the pool', () => {
  it('hands every message over once, over no more connections than allowed', async () => {
    const server = await start();
    const results = await sendMany(connect(server.port, 'max_connections=3'), 200);
    expect(kinds(results)).toEqual(['accepted']);
    expect(new Set(subjects(server)).size).toBe(200);
    expect(server.accepted).toHaveLength(200);
    expect(server.connections).toBe(3);
  });

  it('sends waiting messages in the order they came', async () => {
    const server = await start();
    await sendMany(connect(server.port, 'max_connections=1'), 20);
    expect(subjects(server)).toEqual(Array.from({ length: 20 }, (_, number) => `Subject: ${number}`));
  });

  it('opens one connection for messages that follow one another', async () => {
    const server = await start();
    const transport = connect(server.port, 'max_connections=5');
    for (let number = 0; number < 10; number += 1) await transport.send(ENVELOPE, message(number));
    expect(server.connections).toBe(1);
  });

  it('changes the connection after as many messages as it may carry', async () => {
    const server = await start();
    const results = await sendMany(
      connect(server.port, 'max_connections=1&max_messages_per_connection=3'),
      10,
    );
    expect(kinds(results)).toEqual(['accepted']);
    expect(server.connections).toBe(4);
    expect(server.commands.filter((command) => command === 'QUIT')).toHaveLength(3);
  });

  it('says QUIT on a connection that is not needed any more', async () => {
    const server = await start();
    await connect(server.port, 'idle_timeout_ms=50').send(ENVELOPE, message(1));
    expect(server.open).toBe(1);
    await expect.poll(() => server.open).toBe(0);
    expect(server.commands.at(-1)).toBe('QUIT');
  });

  it('ends what is under way at once when it is aborted: unknown if handed over, put off if waiting', async () => {
    const server = await start({ dot: () => SILENCE });
    const transport = connect(server.port, 'max_connections=1&data_timeout_ms=60000');
    const sends = [transport.send(ENVELOPE, message(1)), transport.send(ENVELOPE, message(2))];
    await expect.poll(() => server.received.length).toBe(1);
    transport.abort();
    const [handedOver, waiting] = await Promise.all(sends);
    expect(handedOver).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining('the service ended'),
    });
    expect(waiting).toMatchObject({ kind: 'refused', temporary: true });
    expect(await transport.send(ENVELOPE, message(3))).toMatchObject({ kind: 'refused', temporary: true });
    await transport.close();
    expect(server.received).toHaveLength(1);
  });

  it('makes do with fewer connections when the server allows no more', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
    const server = await start({
      connect: ({ connection }) => (connection > 2 ? '421 4.7.0 Too many connections\r\n' : undefined),
      dot: () => ['', '250 2.0.0 Ok\r\n'],
    });
    const results = await sendMany(connect(server.port, 'max_connections=10', logger), 60);
    expect(kinds(results)).toEqual(['accepted']);
    expect(server.accepted).toHaveLength(60);
    expect(warnings.length).toBeGreaterThan(0);
  });

  it('refuses all waiting messages when no connection can be opened', async () => {
    const gone = await startScriptedServer();
    await gone.close();
    const results = await sendMany(connect(gone.port, 'max_connections=2'), 50);
    expect(kinds(results)).toEqual(['refused']);
    expect(results[49]).toMatchObject({
      temporary: true,
      reply: null,
      detail: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it('refuses all waiting messages at once when the server does not answer', async () => {
    const server = await start({ connect: () => SILENCE });
    const results = await sendMany(
      connect(server.port, 'max_connections=2&connect_timeout_ms=300&greeting_timeout_ms=300'),
      50,
    );
    expect(kinds(results)).toEqual(['refused']);
    // At most two attempts on each connection for all messages together, not one for each message.
    expect(server.connections).toBeLessThanOrEqual(4);
  });

  it('works again when the server is back', async () => {
    let away = true;
    const server = await start({ connect: () => (away ? '421 4.3.2 Away\r\n' : undefined) });
    const transport = connect(server.port, 'max_connections=2');
    expect(kinds(await sendMany(transport, 5))).toEqual(['refused']);
    away = false;
    expect(kinds(await sendMany(transport, 5))).toEqual(['accepted']);
  });

  it('refuses new messages when too many wait already', async () => {
    const server = await start();
    const results = await sendMany(connect(server.port, 'max_connections=1&max_queue_length=4'), 10);
    const refused = results.filter(({ kind }) => kind === 'refused');
    expect(refused.length).toBe(6);
    expect(refused[0]).toMatchObject({ temporary: true, detail: '4 messages wait for a connection already' });
    expect(server.accepted).toHaveLength(4);
  });

  it('refuses the messages that waited too long, and only those', async () => {
    const server = await start({ dot: () => SILENCE });
    const transport = connect(server.port, 'max_connections=1&queue_timeout_ms=1000&data_timeout_ms=60000');
    const handedOver = transport.send(ENVELOPE, message(1));
    await expect.poll(() => server.received.length).toBe(1);
    const waited = await sendMany(transport, 2);
    expect(kinds(waited)).toEqual(['refused']);
    expect(waited[1]!.detail).toBe('no connection became free within 1000 ms');
    transport.abort();
    expect(await handedOver).toMatchObject({ kind: 'unknown' });
  });

  it('goes on with a fresh connection after each that breaks', async () => {
    const server = await start({ data: ({ connection }) => (connection <= 3 ? RESET : undefined) });
    const results = await sendMany(connect(server.port, 'max_connections=1'), 6);
    expect(results.map(({ kind }) => kind)).toEqual([
      ...Array(3).fill('refused'),
      ...Array(3).fill('accepted'),
    ]);
    expect(server.accepted).toHaveLength(3);
  });
});

describe('closing', () => {
  it('waits for the messages under way and the waiting ones, then says QUIT', async () => {
    const server = await start({ dot: () => ['', '250 2.0.0 Ok\r\n'] });
    const transport = connect(server.port, 'max_connections=2');
    const sending = sendMany(transport, 6);
    // Content is inspected before a connection is asked for.
    await expect.poll(() => server.connections).toBe(2);
    await Promise.all([transport.close(), transport.close()]);
    expect(kinds(await sending)).toEqual(['accepted']);
    expect(server.accepted).toHaveLength(6);
    await expect.poll(() => server.open).toBe(0);
    expect(await transport.send(ENVELOPE, message(7))).toMatchObject({
      kind: 'refused',
      temporary: true,
      detail: 'the transport is closed',
    });
  });

  it('ends when nothing was ever sent', async () => {
    await expect(connect(1, '').close()).resolves.toBeUndefined();
  });

  it('ends when the server does not answer QUIT', async () => {
    const server = await start({ quit: () => SILENCE });
    const transport = connect(server.port, 'command_timeout_ms=300');
    await transport.send(ENVELOPE, message(1));
    await expect(transport.close()).resolves.toBeUndefined();
  });
});
