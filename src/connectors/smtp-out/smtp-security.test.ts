/** TLS and credentials: what is encrypted, what is trusted, and what never leaves this machine or appears in a result. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCertificate, type TestCertificate } from '../../../test/helpers/certificate.ts';
import { PASSWORD } from '../../../test/helpers/real-smtp-server.ts';
import { CLOSE, type Reaction } from '../../../test/helpers/scripted-smtp-server.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope } from '../../areas/send/transport-ports.ts';
import { useSmtpParts } from '../../../test/helpers/smtp-parts.ts';

const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test'] };
const SMALL: Content = { kind: 'bytes', bytes: Buffer.from('Subject: x\r\n\r\nHello\r\n') };
const LOGIN = `alice:${encodeURIComponent(PASSWORD)}@`;

const { startReal, startScripted, connect } = useSmtpParts();
let folder: string;
let tls: TestCertificate;
let caFile: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'smtp-out-'));
  tls = createCertificate();
  caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, tls.cert);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const startServer = (options: SMTPServerOptions) => startReal({ ...tls, ...options });

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
    // smtp-server refuses AUTH in plain text.
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
      const strict = connect(`${protocol}://localhost:${port}${trust ? `?tls_ca=${ca}` : ''}`);
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
        const right = auth.password === PASSWORD || auth.validatePassword(PASSWORD);
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
    const echo = ({ command }: { command: string }): string => `535 5.7.8 ${command} ${PASSWORD}\r\n`;
    const server = await startScripted({ script: { auth: echo }, extensions: ['AUTH PLAIN'] });
    const transport = connect(`smtp://${LOGIN}127.0.0.1:${server.port}`);
    const text = JSON.stringify(await transport.send(ENVELOPE, SMALL));
    expect(text).toContain('AUTH PLAIN ***');
    expect(text).not.toContain('hush');
    expect(text).not.toContain(Buffer.from(`\0alice\0${PASSWORD}`).toString('base64'));
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
