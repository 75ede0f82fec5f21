/** Other programs of the company send by SMTP: the listeners of the built service, over the wire. */
import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { skipWithoutMailServers, startMailServers, type MailServers } from '../helpers/mail-servers.ts';
import { dkimRecord } from '../../src/core/delivery/sender-records.ts';
import { verifyByMailauth } from '../helpers/dkim-verifiers.ts';
import { skipWithout } from '../helpers/skip.ts';
import { openDialogue, plainLogin, type Dialogue } from '../helpers/smtp-dialogue.ts';
import {
  MAX_BYTES,
  startSubmissionService,
  TEST_SECRET,
  type SubmissionService,
} from '../helpers/submission-service.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const run = promisify(execFile);

let shop: SubmissionService;
let key: { readonly id: string; readonly secret: string };
beforeAll(async () => {
  shop = await startSubmissionService(
    { MAX_RECIPIENTS: '3', LISTEN_MAX_CLIENTS_PER_ADDRESS: '60', DKIM_KEY: SIGNING_KEY },
    [{ id: 'news', from: 'news@signed.test', dkim: { domain: 'signed.test', keys: { s1: '${DKIM_KEY}' } } }],
  );
  key = await shop.makeKey();
});
afterAll(async () => {
  shared?.client.end();
  await shop.dispose();
});

const SIGNING_KEY = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const FROM = 'The Shop <shop@company.test>';
const newId = () => `<${randomUUID()}@erp.company.test>`;

/** What the relay got with this Message-ID. */
async function delivered(messageId: string, count = 1) {
  await expect.poll(() => shop.sink.byMessageId(messageId)).toHaveLength(count);
  return shop.sink.byMessageId(messageId);
}

const recorded = (messageId: string) =>
  shop.query(
    'select id, account_id, thread_id, author_key, state, headers, in_reply_to, bcc_addresses from emails where message_id = $1',
    [messageId.slice(1, -1)],
  );

async function emailOf(id: unknown): Promise<Record<string, unknown>> {
  const response = await shop.service.request(`/api/emails/${String(id)}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Logged in, below TLS. */
async function logIn(secret = key.secret): Promise<Dialogue> {
  const client = await openDialogue(shop.portOf('submissions'), shop.ca);
  await client.ask('EHLO erp.company.test\r\n');
  expect(await client.ask(`AUTH PLAIN ${plainLogin(secret)}\r\n`)).toMatch(/^235 2\.7\.0 /);
  return client;
}

interface Submitted {
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  readonly mailFrom?: string;
  readonly to?: readonly string[];
}

/** The connection of refused messages, which ends after twenty of them. */
let shared: { readonly client: Dialogue; uses: number } | null = null;

async function connection(): Promise<Dialogue> {
  if (shared === null || shared.uses === 10) {
    shared?.client.end();
    shared = { client: await logIn(), uses: 0 };
  }
  shared.uses += 1;
  await shared.client.ask('RSET\r\n');
  return shared.client;
}

/** The last reply to a message that is written byte for byte. */
async function submit({
  headers = ['From: shop@company.test', 'To: ada@customer.test', `Message-ID: ${newId()}`],
  body = 'Hi\r\n',
  mailFrom = '<shop@company.test>',
  to = ['ada@customer.test'],
}: Submitted): Promise<string> {
  const client = await connection();
  const sender = await client.ask(`MAIL FROM:${mailFrom}\r\n`);
  if (!sender.startsWith('250')) return sender;
  for (const recipient of to) await client.ask(`RCPT TO:<${recipient}>\r\n`);
  const data = await client.ask('DATA\r\n');
  if (!data.startsWith('354')) return data;
  return await client.ask(
    Buffer.concat([Buffer.from(`${headers.join('\r\n')}\r\n\r\n`), Buffer.from(body), Buffer.from('.\r\n')]),
  );
}

describe('a message', () => {
  const HEADERS = [
    'Received: from scanner by erp; Fri, 27 Nov 2026 10:00:00 +0100',
    'From: =?utf-8?q?Caf=C3=A9?= <shop@company.test>',
    'To: Ada <ada@customer.test>',
    'Cc: bob@customer.test',
    'Date: Fri, 27 Nov 2026 10:00:00 +0100',
    'Subject: Order',
    ' 4711',
    'X-Order: 4711',
    'Disposition-Notification-To: shop@company.test',
    'Reply-To: orders@company.test',
    'MIME-Version: 1.0',
  ];
  const signed = [
    'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Gr\u00fc\u00dfe',
    '..',
    '--b',
    'Content-Type: application/pkcs7-signature; name=smime.p7s',
    'Content-Transfer-Encoding: base64',
    '',
    'MAA=',
    '--b--',
    '',
  ].join('\r\n');

  it('arrives byte for byte, signatures and 8-bit texts too, without its Bcc', async () => {
    const messageId = newId();
    const head = [...HEADERS, `Message-ID: ${messageId}`];
    const reply = await submit({
      headers: [...head.slice(0, 4), 'Bcc: boss@company.test,', '\tcfo@company.test', ...head.slice(4)],
      body: Buffer.from(`${signed.slice(signed.indexOf('Content-Type'))}`, 'latin1'),
      to: ['ada@customer.test', 'boss@company.test'],
    });
    // The body began with header fields of its own.
    expect(reply).toMatch(/^250 2\.0\.0 queued as [0-9a-f-]{36}$/);
    const [message] = await delivered(messageId);
    expect(message?.raw.toString('latin1')).toBe(
      `${head.join('\r\n')}\r\n\r\n${signed.replace(/^\.\.$/m, '.')}`,
    );
    expect(message?.mailFrom).toBe('shop@company.test');
    expect(message?.rcptTo).toEqual(['ada@customer.test', 'boss@company.test']);
  });

  it.each(['submission', 'submissions'] as const)(
    'is recorded with its people, its files, its thread and its key: %s',
    async (protocol) => {
      const messageId = newId();
      const reply = await shop.send(
        key.secret,
        {
          from: FROM,
          to: 'Ada <ada@customer.test>',
          bcc: 'boss@company.test',
          subject: 'Invoice 4711 – Müller',
          text: 'Grüße',
          html: '<p>Grüße <img src="cid:logo"></p>',
          messageId,
          headers: { 'X-Order': '4711', 'Auto-Submitted': 'auto-generated' },
          attachments: [
            { filename: 'Rechnung ü.pdf', content: Buffer.from('%PDF-'), contentType: 'application/pdf' },
            { filename: 'logo.png', content: Buffer.from('png'), cid: 'logo' },
          ],
        },
        protocol,
      );
      const id = /queued as (\S+)/.exec(reply)?.[1];
      const [message] = await delivered(messageId);
      expect(message?.raw.toString()).not.toMatch(/boss@company\.test/);
      await expect.poll(async () => (await emailOf(id))['state']).toBe('sent');
      const email = await emailOf(id);
      expect(email).toMatchObject({
        direction: 'outbound',
        message_id: messageId,
        account_id: 'shop',
        from_address: { name: 'The Shop', address: 'shop@company.test' },
        to_addresses: [{ name: 'Ada', address: 'ada@customer.test' }],
        bcc_addresses: [{ name: '', address: 'boss@company.test' }],
        subject: 'Invoice 4711 – Müller',
        author: { id: key.id },
        headers: { 'X-Order': '4711' },
        automatic: { kind: 'auto_generated' },
        send_version: null,
      });
      const thread = await shop.service.request(`/api/thread/${String(email['thread_id'])}`);
      expect(await thread.json()).toMatchObject({
        emails: [
          {
            text_body: 'Grüße',
            email_attachments: [
              { filename: 'logo.png', content_type: 'image/png' },
              { filename: 'Rechnung ü.pdf', content_type: 'application/pdf', size_bytes: 5 },
            ],
          },
        ],
      });
      const events = await shop.query('select type from events where email_id = $1', [id]);
      expect(events.length).toBeGreaterThan(0);
    },
  );

  it.each([
    ['small', 10],
    ['large', 1_000_000],
  ])('is signed with the DKIM key of its account: %s', async (_, bytes) => {
    const messageId = newId();
    await shop.send(TEST_SECRET, {
      from: 'news@signed.test',
      to: 'ada@customer.test',
      bcc: 'eve@customer.test',
      subject: 'News',
      text: 'News',
      messageId,
      attachments: [{ filename: 'x.bin', content: Buffer.alloc(bytes, 'x') }],
    });
    const [message] = await delivered(messageId);
    const { name, value } = dkimRecord('signed.test', 's1', createPrivateKey(SIGNING_KEY));
    expect(await verifyByMailauth(message?.raw ?? Buffer.alloc(0), { [name]: value })).toEqual(['pass']);
    const [row] = await recorded(messageId);
    const file = await shop.query('select size_bytes::int from email_attachments where email_id = $1', [
      row?.['id'],
    ]);
    expect(file).toEqual([{ size_bytes: bytes }]);
  });

  it('with a header beyond ASCII is handed over with SMTPUTF8', async () => {
    const messageId = newId();
    const reply = await submit({
      headers: ['From: shop@company.test', `Message-ID: ${messageId}`, 'Subject: Gr\u00fc\u00dfe'],
      mailFrom: '<shop@company.test> SMTPUTF8',
    });
    expect(reply).toMatch(/^250 /);
    const [message] = await delivered(messageId);
    expect(message?.mailArguments).toMatchObject({ SMTPUTF8: true });
  });

  it('gets a Message-ID and a Date when it has none', async () => {
    const marker = `X-Marker: ${randomUUID()}`;
    expect(await submit({ headers: ['From: shop@company.test', marker] })).toMatch(/^250 /);
    await expect.poll(() => shop.sink.messages.some(({ raw }) => raw.includes(marker))).toBe(true);
    const raw = shop.sink.messages.find((message) => message.raw.includes(marker))?.raw.toString();
    expect(raw).toMatch(
      /^From: shop@company\.test\r\nX-Marker: \S+\r\nMessage-ID: <\S+\.[0-9a-f]{32}@company\.test>\r\nDate: /,
    );
  });

  it('joins the thread of the email that it answers', async () => {
    const received = newId();
    const inbound = await shop.service.request('/api/inbound?account_id=shop', {
      method: 'POST',
      headers: { 'content-type': 'message/rfc822' },
      body: `From: ada@customer.test\r\nTo: shop@company.test\r\nMessage-ID: ${received}\r\nSubject: Where is it?\r\n\r\n?\r\n`,
    });
    const { threadId } = (await inbound.json()) as { threadId: string };
    const messageId = newId();
    await shop.send(key.secret, {
      from: FROM,
      to: 'ada@customer.test',
      subject: 'Re: Where is it?',
      text: 'On its way',
      inReplyTo: received,
      references: received,
      messageId,
    });
    expect(await recorded(messageId)).toMatchObject([
      { thread_id: threadId, in_reply_to: [received.slice(1, -1)] },
    ]);
  });

  it('that is submitted again is sent once; another content or other recipients are another email', async () => {
    const messageId = newId();
    const mail = { from: FROM, to: 'ada@customer.test', subject: 'Once', text: 'Once', messageId };
    const first = await shop.send(key.secret, mail);
    // Composed anew: Date and boundaries differ.
    expect(await shop.send(key.secret, { ...mail, date: new Date(0) })).toBe(first);
    expect(await shop.send(key.secret, { ...mail, text: 'Twice' })).not.toBe(first);
    const rest = { from: 'shop@company.test', to: 'bob@customer.test' };
    expect(await shop.send(key.secret, { ...mail, envelope: rest })).not.toBe(first);
    await delivered(messageId, 3);
    expect(await recorded(messageId)).toHaveLength(3);
  });

  it('whose connection breaks before its end is not sent', async () => {
    const messageId = newId();
    const client = await logIn();
    await client.ask('MAIL FROM:<shop@company.test>\r\n');
    await client.ask('RCPT TO:<ada@customer.test>\r\n');
    await client.ask('DATA\r\n');
    client.write(`From: shop@company.test\r\nMessage-ID: ${messageId}\r\n\r\nHi\r\n`);
    client.end();
    expect(await submit({})).toMatch(/^250 /);
    expect(await recorded(messageId)).toEqual([]);
  });

  it('that comes back is the same email', async () => {
    const messageId = newId();
    const mail = { from: FROM, to: 'ada@customer.test', subject: 'Back', text: 'Back', messageId };
    await shop.send(key.secret, { ...mail, bcc: 'boss@company.test' });
    const [message] = await delivered(messageId);
    const copy = await shop.service.request('/api/inbound?account_id=shop', {
      method: 'POST',
      headers: { 'content-type': 'message/rfc822' },
      body: message?.raw ?? '',
    });
    const [email] = await recorded(messageId);
    expect(await copy.json()).toMatchObject({ id: email?.['id'] });
    expect(await recorded(messageId)).toHaveLength(1);
  });

  it('is submitted at once from fifty connections', async () => {
    const ids = Array.from({ length: 50 }, newId);
    await Promise.all(
      ids.map((messageId) =>
        shop.send(key.secret, {
          from: FROM,
          to: 'ada@customer.test',
          subject: messageId,
          text: messageId,
          messageId,
        }),
      ),
    );
    for (const messageId of ids) await delivered(messageId);
    expect(await shop.query('select count(*)::int from emails where subject = any($1)', [ids])).toEqual([
      { count: 50 },
    ]);
  });

  it('can not be changed while it waits, because it can not be composed again', async () => {
    await shop.makeAccount('erp');
    await shop.pause('erp');
    const erp = await shop.makeKey({ account_ids: ['erp'] });
    const messageId = newId();
    const reply = await shop.send(erp.secret, {
      from: 'erp@company.test',
      to: 'ada@customer.test',
      subject: 'Later',
      text: 'Later',
      messageId,
    });
    const id = /queued as (\S+)/.exec(reply)?.[1];
    expect(await emailOf(id)).toMatchObject({ state: 'queued', send_version: null });
    const change = await shop.service.request(`/api/emails/${id}`, {
      method: 'PATCH',
      json: { subject: 'Other' },
      headers: { 'if-match': '"1"' },
    });
    expect(await change.json()).toMatchObject({ code: 'not_editable' });
    await shop.resume('erp');
    await delivered(messageId);
  });
});

describe('other clients', () => {
  it.each(['PLAIN', 'LOGIN'])('curl sends with AUTH %s', async (method) => {
    const messageId = newId();
    const folder = await makeTempFolder();
    const file = path.join(folder.path, 'mail.eml');
    await writeFile(
      file,
      `From: shop@company.test\r\nTo: ada@customer.test\r\nMessage-ID: ${messageId}\r\nSubject: x\r\n\r\n.dot\r\n`,
    );
    const target = `smtp://localhost:${shop.portOf('submission')}/erp`;
    const options = {
      url: target,
      cacert: shop.caFile,
      user: `erp:${key.secret}`,
      'login-options': `AUTH=${method}`,
      'mail-from': 'shop@company.test',
      'mail-rcpt': 'ada@customer.test',
      'upload-file': file,
    };
    const named = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    await run('curl', ['--silent', '--show-error', '--ssl-reqd', ...named]);
    const [message] = await delivered(messageId);
    expect(message?.raw.toString()).toMatch(/\r\n\r\n\.dot\r\n$/);
    await folder.remove();
  });

  it.skipIf(skipWithout('a test with swaks', '/usr/bin/swaks')).each([
    ['submission', '--tls'],
    ['submissions', '--tls-on-connect'],
  ] as const)('swaks sends by %s', async (protocol, tls) => {
    const messageId = newId();
    await run('swaks', [
      tls,
      '--tls-verify',
      '--tls-ca-path',
      shop.caFile,
      '--server',
      `localhost:${shop.portOf(protocol)}`,
      '--auth-user',
      'scanner',
      '--auth-password',
      key.secret,
      '--from',
      'shop@company.test',
      '--to',
      'ada@customer.test',
      '--header',
      // As swaks writes it: it replaces its own field only then.
      `Message-Id: ${messageId}`,
      '--attach-body',
      'scanned',
      '--attach',
      `@${shop.caFile}`,
    ]);
    const [row] = await recorded(messageId);
    expect(await emailOf(row?.['id'])).toMatchObject({ has_attachments: true });
  });

  it("Python's smtplib sends", async () => {
    const messageId = newId();
    const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
port, ca, secret, message_id = sys.argv[1:]
message = EmailMessage()
message['From'], message['To'], message['Subject'] = 'Ünser Shop <shop@company.test>', 'ada@customer.test', 'Grüße'
message['Message-ID'] = message_id
message.set_content('Grüße')
message.add_attachment(b'%PDF-', maintype='application', subtype='pdf', filename='ü.pdf')
with smtplib.SMTP('localhost', int(port)) as smtp:
    smtp.starttls(context=ssl.create_default_context(cafile=ca))
    smtp.login('erp', secret)
    smtp.send_message(message)
`;
    const port = String(shop.portOf('submission'));
    await run('python3', ['-c', script, port, shop.caFile, key.secret, messageId]);
    const [row] = await recorded(messageId);
    expect(await emailOf(row?.['id'])).toMatchObject({ subject: 'Grüße', has_attachments: true });
  });
});

describe('a log-in', () => {
  it('is offered and taken below TLS alone, and nothing is taken without it', async () => {
    const client = await openDialogue(shop.portOf('submission'), null);
    const hello = await client.ask('EHLO erp.company.test\r\n');
    expect(hello).toMatch(/^250-STARTTLS/m);
    expect(hello).toMatch(/^250-ENHANCEDSTATUSCODES/m);
    expect(hello).not.toMatch(/AUTH|CHUNKING|DSN|REQUIRETLS/);
    expect(await client.ask(`AUTH PLAIN ${plainLogin(key.secret)}\r\n`)).toMatch(/^538 5\.7\.\d+ /);
    expect(await client.ask('MAIL FROM:<shop@company.test>\r\n')).toMatch(/^530 5\.7\.0 /);
    expect(await client.ask('XCLIENT ADDR=127.0.0.1\r\n')).toMatch(/^500 5\.5\.\d /);
    client.end();

    const secure = await openDialogue(shop.portOf('submissions'), shop.ca);
    const offers = await secure.ask('EHLO erp.company.test\r\n');
    expect(offers).toMatch(/^250-AUTH PLAIN LOGIN/m);
    expect(offers).toMatch(new RegExp(`^250 SIZE ${MAX_BYTES}$`, 'm'));
    expect(await secure.ask('MAIL FROM:<shop@company.test>\r\n')).toMatch(/^530 5\.7\.0 /);
    expect(await secure.ask('RCPT TO:<ada@customer.test>\r\n')).toMatch(/^530 5\.7\.0 /);
    secure.end();
  });

  it('with a wrong, revoked or expired key, or one without the right to send, is refused', async () => {
    const reader = await shop.makeKey({ rights: ['read'] });
    const revoked = await shop.makeKey();
    await shop.service.request(`/api/keys/${revoked.id}`, { method: 'DELETE' });
    const expiresAt = Date.now() + 5000;
    const expired = await shop.makeKey({ expires_at: new Date(expiresAt).toISOString() });
    const client = await openDialogue(shop.portOf('submissions'), shop.ca);
    await client.ask('EHLO erp.company.test\r\n');
    const ask = (password: string) => client.ask(`AUTH PLAIN ${plainLogin(password)}\r\n`);
    expect(await ask('wrong')).toMatch(/^535 5\.7\.8 .*no key/);
    expect(await ask(`${key.secret.slice(0, -1)}${key.secret.endsWith('A') ? 'B' : 'A'}`)).toMatch(
      /^535 5\.7\.8 /,
    );
    expect(await ask('')).toMatch(/^535 5\.7\.8 /);
    expect(await ask(reader.secret)).toMatch(/^535 5\.7\.8 .*no right to send/);
    await expect.poll(() => ask(revoked.secret)).toMatch(/^535 5\.7\.8 .*revoked/);
    client.end();
    await waitUntil('the key has expired', () => Date.now() > expiresAt + 100);
    const later = await openDialogue(shop.portOf('submissions'), shop.ca);
    await later.ask('EHLO erp.company.test\r\n');
    expect(await later.ask(`AUTH PLAIN ${plainLogin(expired.secret)}\r\n`)).toMatch(/^535 5\.7\.8 .*expired/);
    later.end();
    // The audit log has the refusals.
    const log = await shop.service.request('/api/audit?act=login.refused');
    expect(log.status).toBe(200);
  });

  it('ends with its key, for the next message', async () => {
    const short = await shop.makeKey();
    const client = await logIn(short.secret);
    expect(await client.ask('MAIL FROM:<shop@company.test>\r\n')).toMatch(/^250 /);
    await client.ask('RSET\r\n');
    await shop.service.request(`/api/keys/${short.id}`, { method: 'DELETE' });
    await expect
      .poll(async () => {
        const reply = await client.ask('MAIL FROM:<shop@company.test>\r\n');
        await client.ask('RSET\r\n');
        return reply;
      })
      .toMatch(/^530 5\.7\.0 .*no longer valid/);
    client.end();
  });

  it('ends with its key in the middle of a message, too', async () => {
    const short = await shop.makeKey();
    const messageId = newId();
    const [client, other] = [await logIn(short.secret), await logIn(short.secret)];
    await client.ask('MAIL FROM:<shop@company.test>\r\n');
    await client.ask('RCPT TO:<ada@customer.test>\r\n');
    expect(await client.ask('DATA\r\n')).toMatch(/^354 /);
    await shop.service.request(`/api/keys/${short.id}`, { method: 'DELETE' });
    await expect
      .poll(async () => {
        const reply = await other.ask('MAIL FROM:<shop@company.test>\r\n');
        await other.ask('RSET\r\n');
        return reply;
      })
      .toMatch(/^530 5\.7\.0 /);
    other.end();
    expect(
      await client.ask(`From: shop@company.test\r\nMessage-ID: ${messageId}\r\n\r\nHi\r\n.\r\n`),
    ).toMatch(/^530 5\.7\.0 .*no longer valid/);
    client.end();
    expect(await recorded(messageId)).toEqual([]);
  });

  it('takes a secret of API_SECRET, for every account', async () => {
    const messageId = newId();
    await shop.send(TEST_SECRET, {
      from: 'hr@company.test',
      to: 'ada@customer.test',
      subject: 'x',
      text: 'x',
      messageId,
    });
    expect(await recorded(messageId)).toMatchObject([{ account_id: 'hr', author_key: null }]);
  });

  it('leaves no password in the log, right or wrong', async () => {
    const wrong = `wrong-${randomUUID()}`;
    await expect(shop.send(wrong, { from: FROM, to: 'a@customer.test', text: 'x' })).rejects.toThrow('535');
    const log = shop.service.log.join('\n');
    for (const secret of [wrong, key.secret]) {
      expect(log).not.toContain(secret);
      expect(log).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20));
    }
    expect(log).toContain('"event":"login.failed"');
  });
});

describe('a sender', () => {
  it.each([
    ['of another account', 'From: hr@company.test', /From hr@company\.test is no address/],
    ['of a stranger', 'From: ceo@other.test', /From ceo@other\.test is no address/],
    ['with a detail', 'From: shop+x@company.test', /From shop\+x@company\.test is no address/],
    ['in a name', 'From: "shop@company.test" <ceo@other.test>', /From ceo@other\.test is no address/],
    ['of two', 'From: shop@company.test, ceo@other.test', /one address/],
    ['in a group', 'From: The CEO: shop@company.test;', /one address/],
    ['in a list of one', 'From: , shop@company.test', /one address/],
    [
      'in Sender',
      'From: shop@company.test\r\nSender: hr@company.test',
      /Sender hr@company\.test is no address/,
    ],
    ['twice', 'From: shop@company.test\r\nFrom: ceo@other.test', /from occurs twice/],
    ['twice, once with white space', 'From: shop@company.test\r\nFrom : ceo@other.test', /no header field/],
    ['in no From', 'Subject: x', /no header field From/],
  ])('%s is refused', async (_, from, reason) => {
    const messageId = newId();
    const reply = await submit({ headers: [from, `Message-ID: ${messageId}`] });
    expect(reply).toMatch(/^550 5\.\d\.\d /);
    expect(reply).toMatch(reason);
    expect(await recorded(messageId)).toEqual([]);
  });

  it.each([
    ['<hr@company.test>', /^550 5\.7\.1 .*hr@company\.test/],
    ['<>', /^550 5\.7\.1 .*null sender/],
    ['<shop@company.test> RET=FULL', /^555 5\.5\.4 /],
    [`<shop@company.test> SIZE=${MAX_BYTES + 1}`, /^552 5\.3\.4 /],
    ['<sh\u00f6p@company.test>', /^553 5\.6\.7 /],
  ])('of the envelope is refused: %s', async (mailFrom, reply) => {
    expect(await submit({ mailFrom })).toMatch(reply);
  });

  it('is taken in any case, with the parameters of extensions', async () => {
    expect(
      await submit({
        headers: ['From: SHOP@Company.test', `Message-ID: ${newId()}`],
        mailFrom: '<Shop@COMPANY.test> SIZE=100 BODY=8BITMIME SMTPUTF8 AUTH=<>',
      }),
    ).toMatch(/^250 2\.0\.0 /);
  });
});

describe('a recipient', () => {
  it('that is suppressed or no address is refused; the others get the message', async () => {
    await shop.service.request('/api/suppressions/gone@customer.test', {
      method: 'PUT',
      json: {},
    });
    const client = await logIn();
    await client.ask('MAIL FROM:<shop@company.test>\r\n');
    await expect
      .poll(() => client.ask('RCPT TO:<gone@customer.test>\r\n'))
      .toMatch(/^550 5\.7\.1 .*gone@customer\.test/);
    expect(await client.ask('RCPT TO:<nobody>\r\n')).toMatch(/^5\d\d 5\.\d\.\d /);
    const to = ['a', 'b', 'c'].map((name) => `${name}@customer.test`);
    for (const one of to) expect(await client.ask(`RCPT TO:<${one}>\r\n`)).toMatch(/^250 2\.1\.5 /);
    expect(await client.ask('RCPT TO:<d@customer.test>\r\n')).toMatch(/^452 4\.5\.3 /);
    await client.ask('DATA\r\n');
    const messageId = newId();
    expect(
      await client.ask(`From: shop@company.test\r\nMessage-ID: ${messageId}\r\n\r\nHi\r\n.\r\n`),
    ).toMatch(/^250 /);
    client.end();
    const [message] = await delivered(messageId);
    expect(message?.rcptTo).toEqual(to);
  });
});

it('reaches its recipients behind any number of suppressed ones', async () => {
  await shop.service.request('/api/suppressions/left@customer.test', { method: 'PUT', json: {} });
  const client = await logIn();
  await client.ask('MAIL FROM:<shop@company.test>\r\n');
  for (let refused = 0; refused < 30; refused += 1)
    expect(await client.ask('RCPT TO:<left@customer.test>\r\n')).toMatch(/^550 5\.7\.1 /);
  expect(await client.ask('RCPT TO:<ada@customer.test>\r\n')).toMatch(/^250 /);
  await client.ask('DATA\r\n');
  const messageId = newId();
  expect(await client.ask(`From: shop@company.test\r\nMessage-ID: ${messageId}\r\n\r\nHi\r\n.\r\n`)).toMatch(
    /^250 /,
  );
  client.end();
  await delivered(messageId);
});

describe('a message that is refused', () => {
  it.each(['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r\n.\r', '\r\n\0.\r\n', '\n.\r'])(
    'because %j in it could end it for another server',
    async (separator) => {
      const [messageId, smuggledId] = [newId(), newId()];
      const smuggled = `MAIL FROM:<hr@company.test>\r\nRCPT TO:<eve@customer.test>\r\nDATA\r\nFrom: hr@company.test\r\nMessage-ID: ${smuggledId}\r\n\r\nx\r\n`;
      const reply = await submit({
        headers: ['From: shop@company.test', `Message-ID: ${messageId}`],
        body: `one${separator}${smuggled}`,
      });
      expect(reply).toMatch(/^550 5\.6\.0 bare/);
      expect([...(await recorded(messageId)), ...(await recorded(smuggledId))]).toEqual([]);
    },
  );

  it.each([
    ['a line that is too long', { body: `${'x'.repeat(999)}\r\n` }, /^550 5\.6\.0 .*998/],
    ['its size', { body: `${'x'.repeat(70)}\r\n`.repeat(MAX_BYTES / 70) }, /^552 5\.3\.4 /],
    [
      'a subject that is not encoded',
      { headers: ['From: shop@company.test', 'Subject: Gr\u00fc\u00dfe'] },
      /^550 5\.6\.9 /,
    ],
    [
      'Resent fields',
      { headers: ['From: shop@company.test', 'Resent-Bcc: eve@customer.test'] },
      /^550 5\.7\.1 .*resent-bcc/,
    ],
    [
      'a Message-ID that names nothing',
      { headers: ['From: shop@company.test', 'Message-ID: <0>'] },
      /^550 5\.6\.0 .*Message-ID/,
    ],
    [
      'an address that can not be read',
      { headers: ['From: shop@company.test', 'To: ada at customer'] },
      /^550 5\.6\.0 .*address/,
    ],
  ])('because of %s', async (_, submitted: Submitted, reply) => {
    expect(await submit(submitted)).toMatch(reply);
  });
});

describe.skipIf(skipWithoutMailServers())('Postfix as a client, with a relayhost and SASL', () => {
  let servers: MailServers;
  beforeAll(async () => {
    servers = await startMailServers(null, shop.portOf('submission'), {
      user: 'postfix',
      password: key.secret,
      caFile: shop.caFile,
    });
  });
  afterAll(() => servers.stop());

  async function hand(mail: SendMailOptions): Promise<void> {
    const transport = createTransport({ host: '127.0.0.1', port: servers.smtpPort, ignoreTLS: true });
    await transport.sendMail(mail);
    transport.close();
  }

  it('hands a message over as it was written, and its recipients in several transactions', async () => {
    const messageId = `<${randomUUID()}@erp.company.test>`;
    await hand({
      from: 'The Shop <shop@company.test>',
      to: 'ada@customer.test, bob@customer.test',
      bcc: 'eve@customer.test',
      subject: 'Grüße',
      text: 'Grüße',
      messageId,
    });
    // Postfix hands over two recipients at a time: the rest is an email of its own, in the same thread.
    await expect.poll(() => shop.sink.byMessageId(messageId)).toHaveLength(2);
    const delivered = shop.sink.byMessageId(messageId).flatMap(({ rcptTo }) => rcptTo);
    expect(delivered.sort()).toEqual(['ada@customer.test', 'bob@customer.test', 'eve@customer.test']);
    const rows = await shop.query('select distinct thread_id from emails where message_id = $1', [
      messageId.slice(1, -1),
    ]);
    expect(rows).toHaveLength(1);
  });

  it('returns what the key may not send, with the reason', async () => {
    const subject = randomUUID();
    await hand({ from: 'alice@example.test', to: 'ada@customer.test', subject, text: 'x' });
    await expect
      .poll(() => servers.readLog())
      .toMatch(/status=bounced .*550 5\.7\.1 .*alice@example\.test is no address that this key may send as/);
  });
});

describe('connections that never finish their TLS handshake', () => {
  it('leave room for other addresses', async () => {
    const port = shop.portOf('submissions');
    const idle = Array.from({ length: 120 }, () =>
      connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
    );
    for (const socket of idle) socket.on('error', () => undefined);
    await expect.poll(() => idle.filter(({ closed }) => closed).length).toBe(60);
    await shop.send(key.secret, { from: FROM, to: 'ada@customer.test', text: 'x' }, 'submissions');
    for (const socket of idle) socket.destroy();
  });
});
