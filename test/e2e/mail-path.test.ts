/** The path of a message through real servers: our transport, Postfix, Dovecot, and back by IMAP. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSmtpTransport } from '../../src/connectors/smtp-out/smtp-transport.ts';
import { parseSmtpUrl } from '../../src/connectors/smtp-out/smtp-url.ts';
import type { Envelope, Transport } from '../../src/areas/send/transport-ports.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { countMessages, fetchByMessageId, stripTraceHeaders } from '../helpers/read-mailbox.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const ENVELOPE: Envelope = { mailFrom: 'crm@example.com', rcptTo: ['alice@example.test'] };

describe.skipIf(skipWithoutMailServers())('a message through Postfix and Dovecot', () => {
  let servers: MailServers;
  const open: Transport[] = [];

  beforeAll(async () => {
    servers = await startMailServers();
  });
  afterEach(async () => {
    for (const transport of open.splice(0)) await transport.close();
  });
  afterAll(async () => {
    await servers.stop();
  });

  function connect(url: string): Transport {
    const transport = createSmtpTransport({ ...parseSmtpUrl(url), logger: silentLogger });
    open.push(transport);
    return transport;
  }

  const relay = (): Transport => connect(`smtp://127.0.0.1:${servers.smtpPort}?tls_verify=false`);

  function submission(user: string, password: string): Transport {
    const login = `${user}:${encodeURIComponent(password)}`;
    return connect(
      `smtp://${login}@localhost:${servers.submissionPort}?starttls=required&tls_ca=${servers.caFile}`,
    );
  }

  function compose(body: string): { messageId: string; raw: Buffer } {
    const messageId = `<${randomUUID()}@example.com>`;
    const head = [
      'Date: Thu, 01 Jan 2026 10:00:00 +0000',
      'From: =?UTF-8?Q?M=C3=BCller?= <crm@example.com>',
      'To: Alice <alice@example.test>',
      `Message-ID: ${messageId}`,
      'References: <one@example.com>\r\n <two@example.com>',
      'Subject: End to end',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
    ];
    return { messageId, raw: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`) };
  }

  it.each([
    ['dots at the start of lines', '.\r\n..\r\n.hidden\r\nend\r\n'],
    ['text in UTF-8', 'Grüße, 日本語, 😀\r\n'],
    ['white space at the ends of lines', 'a \r\nb\t\r\n\r\n\r\n \r\n'],
    ['a line that looks like an mbox separator', 'From me to you\r\n>From\r\n'],
    ['an empty body', ''],
    ['a line of 998 octets', `${'x'.repeat(998)}\r\n`],
  ])('arrives byte for byte with %s', async (_, body) => {
    const { messageId, raw } = compose(body);
    const result = await relay().send(ENVELOPE, { kind: 'bytes', bytes: raw });
    expect(result).toMatchObject({ kind: 'accepted', reply: { code: 250, enhancedStatus: '2.0.0' } });
    const received = await fetchByMessageId(servers, 'alice', messageId);
    expect(stripTraceHeaders(received).toString('latin1')).toBe(raw.toString('latin1'));
    expect(received.length).toBeGreaterThan(raw.length);
  });

  it('arrives from a large file byte for byte', async () => {
    const { messageId, raw } = compose(`${'0123456789'.repeat(7)}\r\n.\r\n`.repeat(100_000));
    const file = path.join(tmpdir(), `mail-path-${randomUUID()}`);
    await writeFile(file, raw);
    const result = await relay().send(ENVELOPE, { kind: 'file', path: file, sizeBytes: raw.length });
    await rm(file);
    expect(result.kind).toBe('accepted');
    const received = await fetchByMessageId(servers, 'alice', messageId);
    expect(stripTraceHeaders(received).equals(raw)).toBe(true);
  });

  it('reaches the known recipients and names the unknown ones', async () => {
    const { messageId, raw } = compose('Hello\r\n');
    const rcptTo = ['alice@example.test', 'nobody@example.test', 'bob@example.test'];
    const result = await relay().send({ ...ENVELOPE, rcptTo }, { kind: 'bytes', bytes: raw });
    expect(result.kind).toBe('accepted');
    expect(result.recipients).toMatchObject([
      { address: rcptTo[0], state: 'accepted' },
      { address: rcptTo[1], state: 'rejected', reply: { code: 550, enhancedStatus: '5.1.1' } },
      { address: rcptTo[2], state: 'accepted' },
    ]);
    for (const user of ['alice', 'bob'] as const) {
      const received = await fetchByMessageId(servers, user, messageId);
      expect(stripTraceHeaders(received)).toEqual(raw);
    }
  });

  it('is refused permanently when no recipient is known', async () => {
    const { raw } = compose('Hello\r\n');
    const envelope = { ...ENVELOPE, rcptTo: ['nobody@example.test'] };
    const result = await relay().send(envelope, { kind: 'bytes', bytes: raw });
    expect(result).toMatchObject({ kind: 'refused', temporary: false, reply: { code: 550 } });
  });

  it('is refused before it is sent when it is larger than Postfix takes', async () => {
    const bytes = Buffer.alloc(60_000_001, 'x');
    const result = await relay().send(ENVELOPE, { kind: 'bytes', bytes });
    expect(result).toMatchObject({ kind: 'refused', temporary: false });
    expect(result.detail).toMatch(/60000001 bytes.*60000000 at most/);
  });

  it('goes through the submission service with STARTTLS and AUTH', async () => {
    const { messageId, raw } = compose('Hello\r\n');
    const transport = submission('alice', servers.users.alice.password);
    await transport.verify();
    const result = await transport.send(ENVELOPE, { kind: 'bytes', bytes: raw });
    expect(result.kind).toBe('accepted');
    const received = await fetchByMessageId(servers, 'alice', messageId);
    expect(stripTraceHeaders(received)).toEqual(raw);
    // Postfix notes TLS and the protocol (RFC 3848: ESMTPSA) of each hop.
    expect(received.toString('latin1')).toMatch(/with ESMTPSA/);
  });

  it('is refused for now when the password is wrong', async () => {
    const transport = submission('alice', 'wrong');
    const result = await transport.send(ENVELOPE, { kind: 'bytes', bytes: compose('').raw });
    expect(result).toMatchObject({ kind: 'refused', temporary: true, reply: { code: 535 } });
    await expect(transport.verify()).rejects.toThrow(/535/);
  });

  it('arrives once each when many are sent at the same time', async () => {
    const before = await countMessages(servers, 'bob');
    const transport = relay();
    const messages = Array.from({ length: 100 }, () => compose('Hello\r\n'));
    const envelope = { ...ENVELOPE, rcptTo: ['bob@example.test'] };
    const results = await Promise.all(
      messages.map(({ raw }) => transport.send(envelope, { kind: 'bytes', bytes: raw })),
    );
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    await expect.poll(() => countMessages(servers, 'bob')).toBe(before + 100);
    for (const { messageId } of messages.slice(0, 5)) await fetchByMessageId(servers, 'bob', messageId);
  });
});
