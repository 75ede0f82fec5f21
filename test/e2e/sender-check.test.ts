/** Senders of mail received by SMTP, and signatures of mail received by LMTP, checked by the built service with a real DNS server. */
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { dkimSign } from 'mailauth';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { mail, newId } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { skipWithout } from '../helpers/skip.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const DNSMASQ = '/usr/sbin/dnsmasq';

describe.skipIf(skipWithout('tests with a DNS server', DNSMASQ))('the sender of a message', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const other = generateKeyPairSync('ed25519').privateKey;
  let dns: ChildProcess;
  let database: TestDatabase;
  let service: ServiceProcess;
  let smtpPort: number;
  let lmtpPort: number;

  beforeAll(async () => {
    const port = await findFreePort();
    // The last 32 bytes of the key's structure are the key (RFC 8463 §4).
    const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
    const records = {
      'good.test': 'v=spf1 ip4:127.0.0.1 -all',
      'strict.test': 'v=spf1 -all',
      's1._domainkey.good.test': `v=DKIM1; k=ed25519; p=${key}`,
      's1._domainkey.strict.test': `v=DKIM1; k=ed25519; p=${key}`,
      '_dmarc.good.test': 'v=DMARC1; p=reject',
      '_dmarc.strict.test': 'v=DMARC1; p=reject',
    };
    dns = spawn(DNSMASQ, [
      '--no-daemon',
      '--no-resolv',
      '--no-hosts',
      '--conf-file=/dev/null',
      `--port=${port}`,
      '--local=/test/',
      // Nothing answers there.
      '--server=/broken.test/127.0.0.1#9',
      '--listen-address=127.0.0.1',
      '--bind-interfaces',
      '--user=root',
      ...Object.entries(records).map(([name, text]) => `--txt-record=${name},${text}`),
    ]);
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    await waitUntil('the DNS server answers', () =>
      resolver.resolveTxt('good.test').then(
        () => true,
        () => false,
      ),
    );
    database = await createTestDatabase();
    smtpPort = await findFreePort();
    lmtpPort = await findFreePort();
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        MAIL_FROM: 'Sales <sales@example.com>',
        SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
        SMTP_CHECK_SENDERS: 'true',
        LMTP_LISTEN: `127.0.0.1:${lmtpPort}`,
        LMTP_CHECK_SIGNATURES: 'true',
        TRUSTED_AUTHSERV_IDS: 'mx.example.com',
        DNS_SERVERS: `127.0.0.1:${port}`,
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
    dns.kill();
  });

  /** Sends a message, and returns the recorded authentication of its sender. */
  async function deliver(raw: string, mailFrom: string, lmtp = false): Promise<unknown> {
    const transport = createTransport({
      host: '127.0.0.1',
      port: lmtp ? lmtpPort : smtpPort,
      lmtp,
      ignoreTLS: true,
      name: 'client.test',
    });
    await transport.sendMail({ raw, envelope: { from: mailFrom, to: ['sales@example.com'] } });
    transport.close();
    const { emails } = await getJson<{ emails: { id: string }[] }>(service, '/api/emails?limit=1');
    const email = await getJson<Record<string, unknown>>(service, `/api/emails/${emails[0]?.id}`);
    expect(raw).toContain(String(email['message_id']));
    return email['authentication'];
  }

  async function signed(raw: string, domain: string, key: KeyObject = privateKey): Promise<string> {
    const options = {
      signingDomain: domain,
      selector: 's1',
      privateKey: key.export({ format: 'pem', type: 'pkcs8' }),
      algorithm: 'ed25519-sha256',
      // Otherwise the second of the signature may differ from the second in which it is written.
      signTime: new Date(),
    };
    const { signatures } = await dkimSign(raw, { ...options, signatureData: [options] });
    return signatures + raw;
  }

  const from = (address: string, date: string) =>
    mail({ from: address, messageId: newId(), date: `Sun, 01 Mar 2026 ${date} +0100` });

  it('passes when its domain says so', { tags: ['long'] }, async () => {
    const raw = await signed(from('ada@good.test', '12:00:00'), 'good.test');
    expect(await deliver(raw, 'ada@good.test')).toEqual({
      verdict: 'passed',
      source: 'checked',
      spf: { result: 'pass', domain: 'good.test' },
      dkim: [{ result: 'pass', domain: 'good.test', selector: 's1' }],
      dmarc: { result: 'pass', domain: 'good.test' },
      arc: 'none',
    });
  });

  it('passes by its signature alone when it was forwarded', async () => {
    const raw = await signed(from('ada@strict.test', '12:01:00'), 'strict.test');
    expect(await deliver(raw, 'ada@strict.test')).toMatchObject({
      verdict: 'passed',
      spf: { result: 'fail' },
      dmarc: { result: 'pass' },
    });
  });

  it('fails when another sender wrote it', async () => {
    expect(await deliver(from('ada@strict.test', '12:02:00'), 'ada@strict.test')).toMatchObject({
      verdict: 'failed',
      spf: { result: 'fail', domain: 'strict.test' },
      dkim: [],
      dmarc: { result: 'fail', domain: 'strict.test' },
    });
    const wrong = await signed(from('ada@strict.test', '12:03:00'), 'strict.test', other);
    expect(await deliver(wrong, 'ada@strict.test')).toMatchObject({
      verdict: 'failed',
      dkim: [{ result: 'fail' }],
    });
    // Valid, but for another domain than that of From.
    const foreign = await signed(from('ada@strict.test', '12:04:00'), 'good.test');
    expect(await deliver(foreign, 'eve@good.test')).toMatchObject({
      verdict: 'failed',
      spf: { result: 'pass', domain: 'good.test' },
      dmarc: { result: 'fail' },
    });
  });

  it('fails when its forger signs with a key that can not be asked for, or names an author in an encoded word', async () => {
    const broken = await signed(from('ada@strict.test', '12:04:10'), 'broken.test', other);
    expect(await deliver(broken, 'eve@broken.test')).toMatchObject({
      verdict: 'failed',
      dkim: [{ result: 'temperror', domain: 'broken.test' }],
      dmarc: { result: 'fail', domain: 'strict.test' },
    });
    const tag = (selector: string) =>
      `DKIM-Signature: v=1; a=rsa-sha256; d=strict.test; s=${selector}; h=from; bh=x; b=y\r\n`;
    const long = tag('x'.repeat(64)) + from('ada@strict.test', '12:04:20');
    expect(await deliver(long, 'eve@broken.test')).toMatchObject({ verdict: 'failed' });
    const nul = tag('s\0x') + from('ada@strict.test', '12:04:25');
    expect(await deliver(nul, 'eve@broken.test', true)).toMatchObject({ source: 'checked', dkim: [] });
    const encoded = from('=?utf-8?B?YWRhQHN0cmljdC50ZXN0?=', '12:04:30');
    expect(await deliver(encoded, 'eve@broken.test')).toMatchObject({
      verdict: 'failed',
      dmarc: { result: 'fail', domain: 'strict.test' },
    });
  });

  it('does not believe what the message says of itself', async () => {
    const raw = `Authentication-Results: mx.good.test; dmarc=pass header.from=strict.test\r\n${from('ada@strict.test', '12:05:00')}`;
    expect(await deliver(raw, 'ada@strict.test')).toMatchObject({ verdict: 'failed', source: 'checked' });
  });

  it('is known by signatures, and by SPF as a trusted server tells it, when a mail server hands it over by LMTP', async () => {
    const raw = await signed(from('ada@strict.test', '12:05:10'), 'strict.test');
    expect(await deliver(raw, 'ada@strict.test', true)).toEqual({
      verdict: 'passed',
      source: 'checked',
      spf: null,
      dkim: [{ result: 'pass', domain: 'strict.test', selector: 's1' }],
      dmarc: { result: 'pass', domain: 'strict.test' },
      arc: 'none',
    });
    // Its SPF may have passed at the mail server.
    expect(await deliver(from('ada@strict.test', '12:05:20'), 'ada@strict.test', true)).toMatchObject({
      verdict: 'unknown',
      dmarc: null,
    });
    const told = `Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=evil.test\r\n${from('ada@strict.test', '12:05:30')}`;
    expect(await deliver(told, 'eve@evil.test', true)).toMatchObject({
      verdict: 'failed',
      source: 'header',
      spf: { result: 'pass', domain: 'evil.test' },
      dmarc: { result: 'fail', domain: 'strict.test' },
    });
  });

  it('is unknown when its domain says nothing, and its mail is recorded when DNS does not answer', async () => {
    expect(await deliver(from('ada@silent.test', '12:06:00'), 'ada@silent.test')).toMatchObject({
      verdict: 'unknown',
    });
    dns.kill();
    expect(await deliver(from('ada@gone.test', '12:07:00'), 'ada@gone.test')).toMatchObject({
      verdict: 'unknown',
      spf: { result: 'temperror' },
    });
  });
});
