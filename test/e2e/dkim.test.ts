/** Signed mail of the service, after a real mail server has passed it on. */
import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dkimRecord } from '../../src/core/delivery/sender-records.ts';
import { skipWithoutOpendkim, verifyByMailauth, verifyByOpendkim } from '../helpers/dkim-verifiers.ts';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { getJson } from '../helpers/running-service.ts';
import { startSmtpSink, type SinkMessage, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PEM = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }),
  ed25519: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
};
const PUBLISHED = Object.fromEntries(
  (['rsa', 'ed25519'] as const).map((type) => {
    const { name, value } = dkimRecord('example.com', type, createPrivateKey(PEM[type]));
    return [name, value];
  }),
);
const SIGNING = {
  MAIL_FROM: 'Sales <sales@example.com>',
  DKIM_KEYS: 'rsa=${RSA_KEY},ed25519=${ED25519_KEY}',
  RSA_KEY: PEM.rsa.toString(),
  ED25519_KEY: PEM.ed25519.toString(),
};
const GOOD = { mailauth: ['pass', 'pass'], opendkim: ['pass rsa-sha256', 'pass ed25519-sha256'] };

async function verify({ raw }: SinkMessage) {
  return {
    mailauth: await verifyByMailauth(raw, PUBLISHED),
    opendkim: await verifyByOpendkim(raw, PUBLISHED),
  };
}

const send = async (service: ServiceProcess, json: object): Promise<{ id: string; messageId: string }> => {
  const response = await service.request('/api/send', {
    method: 'POST',
    json: { to: 'bob@customer.test', ...json },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { id: string; messageId: string };
};

/** The message at the far side, without the trace fields of Postfix. */
const withoutTrace = (raw: Buffer): Buffer => raw.subarray(raw.indexOf('DKIM-Signature:'));

describe.skipIf(skipWithoutMailServers() || skipWithoutOpendkim())('signed mail behind Postfix', () => {
  let database: TestDatabase;
  let far: SmtpSink;
  let servers: MailServers;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    // An old-style server: 7-bit only.
    far = await startSmtpSink({ hide8BITMIME: true });
    servers = await startMailServers(null, Number(new URL(far.url).port));
    service = await startServiceProcess({
      env: {
        DATABASE_URL: database.connectionString,
        SMTP_URL: `smtp://127.0.0.1:${servers.smtpPort}?tls_verify=false`,
        ...SIGNING,
      },
    });
  });
  afterAll(async () => {
    await disposeService(service);
    await servers.stop();
    await far.stop();
    await database.drop();
  });

  async function received(messageId: string): Promise<SinkMessage> {
    await waitUntil('the message is there', () => far.byMessageId(messageId).length > 0);
    const [message] = far.byMessageId(messageId);
    if (message === undefined) throw new Error('it is gone again');
    return message;
  }

  it.each([
    ['a text', { text_body: 'Hello\n' }],
    ['dots, From lines and white space', { text_body: '.\n..\nFrom here  \n\tand\t there \n \n\n\n' }],
    ['other letters', { text_body: 'Grüße 你好\n', html_body: '<p>Grüße 你好</p>'.repeat(500) }],
    ['long lines', { html_body: `<p>${'x'.repeat(5000)} é</p>` }],
    [
      'long headers',
      { to: Array.from({ length: 60 }, (_, n) => `Ünser Kunde ${n} <bob${n}@customer.test>`) },
    ],
    [
      'a file',
      {
        text_body: 'x',
        attachments: [{ filename: 'ä.bin', content: Buffer.alloc(3000, 7).toString('base64') }],
      },
    ],
    ['a local part that is not ASCII', { to: 'jürgen@customer.test', text_body: 'x' }],
  ])('is good with %s', async (_, body) => {
    const { id, messageId } = await send(service, { subject: 'Größe  x', text_body: 'x', ...body });
    const message = await received(messageId);
    expect(await verify(message)).toEqual(GOOD);
    // The service stores the message as it was sent, signatures and all.
    const raw = Buffer.from(await (await service.request(`/api/emails/${id}/raw`)).arrayBuffer());
    expect(raw.equals(withoutTrace(message.raw))).toBe(true);
  });

  it('is good with 25 MB of files, which are signed in a stream', async () => {
    const content = Buffer.alloc(24 * 1024 * 1024, 'No two lines are alike: 4711.');
    const { messageId } = await send(service, {
      subject: 'large',
      text_body: 'x',
      attachments: [{ filename: 'large.bin', content: content.toString('base64') }],
    });
    expect(await verify(await received(messageId))).toEqual(GOOD);
  });
});

describe('a signed email that is tried again', () => {
  it('has the same bytes each time, in the queue, after a crash and in the record', async () => {
    const database = await createTestDatabase();
    const tries: Buffer[] = [];
    let puttingOff = true;
    const sink = await startSmtpSink({
      onData(stream, _session, callback) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          tries.push(Buffer.concat(chunks));
          callback(puttingOff ? Object.assign(new Error('4.7.1 later'), { responseCode: 451 }) : null, 'ok');
        });
      },
    });
    const env = {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      // The second delay is long enough to kill the service between two attempts.
      SEND_RETRY_DELAYS_S: '1,6',
      ...SIGNING,
    };
    let service = await startServiceProcess({ env });
    try {
      const response = await service.request('/api/send', {
        method: 'POST',
        headers: { prefer: 'respond-async' },
        json: { to: 'bob@customer.test', subject: 'x', text_body: 'Hello' },
      });
      expect(response.status).toBe(202);
      const { id } = (await response.json()) as { id: string };
      await waitUntil('it was tried twice, and put off', async () => {
        const { attempts, state } = await getJson<{ attempts: unknown[]; state: string }>(
          service,
          `/api/emails/${id}`,
        );
        return attempts.length === 2 && state === 'deferred';
      });
      await service.kill();
      puttingOff = false;
      const before = tries.length;
      service = await startServiceProcess({ env, dataDir: service.dataDir });
      await waitUntil('it was tried again', () => tries.length > before);
      const raw = Buffer.from(await (await service.request(`/api/emails/${id}/raw`)).arrayBuffer());
      const digests = [...tries, raw].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
      expect(new Set(digests).size).toBe(1);
      expect(await verifyByMailauth(raw, PUBLISHED)).toEqual(GOOD.mailauth);
    } finally {
      await disposeService(service);
      await sink.stop();
      await database.drop();
    }
  });
});
