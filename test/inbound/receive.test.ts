/** Receiving over HTTP, in the built service with a real database and a real SMTP server behind it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, newId, post, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson as getJsonOf, sendJson, startServiceWithSink } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, sink, service, end } = await startServiceWithSink());
});
afterAll(() => end());

interface ThreadEmail {
  readonly id: string;
  readonly message_id: string;
  readonly direction: string;
}

const getJson = <T>(path: string) => getJsonOf<T>(service, path);
const emailOf = (id: string) => getJson<Record<string, unknown>>(`/api/emails/${id}`);
const threadOf = async (id: string) => (await getJson<{ emails: ThreadEmail[] }>(`/api/thread/${id}`)).emails;

const send = (json: object) => sendJson(service, json);

describe('an email without a Date that can be read', () => {
  const RECEIVED = 'Received: from mx.test by mail.test id 1; Sun, 1 Mar 2026 12:00:05 +0100';
  const dateOf = async (...headers: readonly string[]): Promise<number> => {
    const raw = mail({ from: 'cron@machine.test', headers }).replace(/Date: .*\r\n/, '');
    return Date.parse(String((await emailOf((await receive(service, raw)).id))['date']));
  };

  it.each([
    ['no Date', []],
    ['a Date that is none', ['Date: gestern']],
  ])('has the time at which the last server took it: %s', async (_, headers) => {
    const lower = 'Received: from a.test by mx.test; Sat, 28 Feb 2026 12:00:00 +0100';
    expect(await dateOf(RECEIVED, lower, ...headers)).toBe(Date.parse('2026-03-01T11:00:05Z'));
  });

  it.each([[[]], [['Received: from a.test by mx.test; Sun, 1 Mar 2126 12:00:00 +0100']]])(
    'has the time of now where there is none, or one to come: %j',
    async (headers) => {
      const began = Date.now() - 1000;
      const date = await dateOf(...headers);
      expect(date).toBeGreaterThanOrEqual(began);
      expect(date).toBeLessThanOrEqual(Date.now());
    },
  );
});

it('shows names without an address as names', async () => {
  const raw = mail({
    from: '"Scanner Büro" <>',
    headers: ['Cc: Lager Köln <>, eva@cc.test', 'Reply-To: "Verkauf Nord" <>'],
  });
  const email = await emailOf((await receive(service, raw)).id);
  expect(email).toMatchObject({
    from_address: { name: 'Scanner Büro', address: '' },
    cc_addresses: [
      { name: 'Lager Köln', address: '' },
      { name: '', address: 'eva@cc.test' },
    ],
    reply_to_addresses: [{ name: 'Verkauf Nord', address: '' }],
    defects: ['invalid_address'],
  });
  const { threadId: _, ...preview } = await getJson<Record<string, unknown>>(
    `/api/emails/${String(email['id'])}/reply?kind=reply_all`,
  );
  expect(preview).toMatchObject({ to: [], cc: [{ name: '', address: 'eva@cc.test' }] });
});

describe('a conversation', () => {
  it('goes on where Python wrote the ids in encoded words', async () => {
    const encoded = (id: string): string =>
      `=?utf-8?q?${id.replace(/[<>@.]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`)}?=`;
    const first = await send({ to: 'bert@customer.test', subject: 'Angebot', text_body: 'Unser Angebot' });
    const written = newId();
    // Not Ada: her customer, in the next test, would get this mail too.
    const from = 'Bert <bert@customer.test>';
    const answer = await receive(
      service,
      mail({ from, messageId: encoded(written), inReplyTo: encoded(first.messageId) }),
    );
    expect(answer).toMatchObject({ messageId: written, threadId: first.threadId });
    const json = { to: 'bert@customer.test', subject: 'x', text_body: 'x', in_reply_to: answer.messageId };
    const [sent] = sink.byMessageId((await send(json)).messageId);
    const header = sent!.raw.toString('latin1').replace(/\r\n[ \t]+/g, ' ');
    expect(header).toContain(`In-Reply-To: ${written}\r\n`);
    expect(header).toContain(`References: ${first.messageId} ${written}\r\n`);
  });

  it('goes on in one thread: a send, its answer, and the answer to that', async () => {
    const customer = randomUUID();
    const first = await send({
      to: 'ada@customer.test',
      subject: 'Angebot',
      text_body: 'Unser Angebot',
      customer_id: customer,
    });
    const answer = await receive(
      service,
      mail({
        subject: 'Re: Angebot',
        inReplyTo: first.messageId,
        references: [first.messageId],
        body: 'Gern!\r\n\r\nAm 1.3.2026 um 12:00 schrieb Sales <sales@example.com>:\r\n> Unser Angebot',
      }),
    );
    expect(answer).toMatchObject({ status: 'received', threadId: first.threadId });
    const second = await send({
      to: 'ada@customer.test',
      subject: 'Re: Angebot',
      text_body: 'Danke',
      in_reply_to: answer.messageId,
    });

    expect(second.threadId).toBe(first.threadId);
    const [sent] = sink.byMessageId(second.messageId);
    const header = sent!.raw.toString('latin1').replace(/\r\n[ \t]+/g, ' ');
    expect(header).toContain(`In-Reply-To: ${answer.messageId}\r\n`);
    expect(header).toContain(`References: ${first.messageId} ${answer.messageId}\r\n`);
    const emails = await threadOf(first.threadId);
    expect(emails.map(({ id }) => id).sort()).toEqual([first.id, answer.id, second.id].sort());
    const received = emails.find(({ id }) => id === answer.id);
    expect(received).toEqual({
      id: answer.id,
      message_id: answer.messageId,
      direction: 'inbound',
      from_address: { name: 'Ada', address: 'ada@customer.test' },
      to_addresses: [{ name: '', address: 'sales@example.com' }],
      subject: 'Re: Angebot',
      text_body: expect.stringContaining('> Unser Angebot') as unknown,
      date: '2026-03-01T11:00:00.000Z',
      has_attachments: false,
      email_attachments: [],
    });
    expect(await emailOf(answer.id)).toMatchObject({
      state: 'received',
      reply_text: 'Gern!',
      customer_id: customer,
      new_participant: false,
      automatic: null,
      defects: [],
      recipients: [],
      attempts: [],
      placement: { rule: 'in_reply_to', matched_message_id: first.messageId },
    });
    const list = await getJson<{ emails: ThreadEmail[] }>(
      `/api/customer/${customer}/emails?direction=inbound`,
    );
    expect(list.emails).toEqual([received]);
  });

  it('is not taken over by a stranger, who is marked', async () => {
    const first = await send({ to: 'ada@customer.test', subject: 'A', text_body: 'a' });
    const stranger = await receive(
      service,
      mail({ from: 'eve@elsewhere.test', inReplyTo: first.messageId, subject: 'Re: A' }),
    );
    expect(stranger.threadId).toBe(first.threadId);
    expect(await emailOf(stranger.id)).toMatchObject({ new_participant: true });
    const eve = { from: 'EVE@elsewhere.test', inReplyTo: stranger.messageId };
    const again = await receive(service, mail(eve));
    expect(await emailOf(again.id)).toMatchObject({ new_participant: true });
    await send({ to: 'eve@elsewhere.test', subject: 'A', text_body: 'a', thread_id: first.threadId });
    const answered = await receive(service, mail(eve));
    expect(await emailOf(answered.id)).toMatchObject({ new_participant: false });
  });

  it('of a learned address belongs to its customer, and so does its thread', async () => {
    const customer = randomUUID();
    await send({ to: 'Max@learned.test', subject: 'A', text_body: 'a', customer_id: customer });
    const fresh = await receive(service, mail({ from: 'max@LEARNED.test', subject: 'Neues Thema' }));
    // A moment later, while a rule from another test is being applied.
    await expect
      .poll(() => emailOf(fresh.id))
      .toMatchObject({ customer_id: customer, placement: { rule: 'new' } });
    const later = await send({ to: 'x@other.test', subject: 'A', text_body: 'a', thread_id: fresh.threadId });
    expect(await emailOf(later.id)).toMatchObject({ customer_id: customer });
  });
});

describe('one email, one record', () => {
  it('is given back for a repeat, also with other line ends, and when many come at once', async () => {
    const raw = mail({
      headers: ['Content-Type: multipart/mixed; boundary=b'],
      body: '--b\r\n\r\ntext\r\n--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nfile\r\n--b--',
    });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        receive(service, index % 2 === 0 ? raw : raw.replaceAll('\r\n', '\n')),
      ),
    );
    expect(answers.filter(({ status }) => status === 'received')).toHaveLength(1);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await threadOf(answers[0]!.threadId)).toHaveLength(1);
    expect((await receive(service, raw)).status).toBe('duplicate');
  });

  it('is another record in the same thread when only the Message-ID is the same', async () => {
    const messageId = newId();
    const one = await receive(service, mail({ messageId, subject: 'Eins' }));
    const two = await receive(service, mail({ messageId, subject: 'Zwei' }));
    expect(two).toMatchObject({ status: 'received', messageId, threadId: one.threadId });
    expect(two.id).not.toBe(one.id);
    expect(await emailOf(two.id)).toMatchObject({ placement: { rule: 'message_id' } });
  });

  it('has a stable Message-ID when it came without, and that never goes out', async () => {
    const raw = mail({ messageId: null, subject: `Ohne ${randomUUID()}` });
    const first = await receive(service, raw);
    expect(await receive(service, raw)).toMatchObject({ status: 'duplicate', id: first.id });
    expect(first.messageId).toMatch(/^<[0-9a-f]{64}@missing-message-id\.invalid>$/);
    const answer = await send({
      to: 'ada@customer.test',
      subject: 'Re: Ohne',
      text_body: 'a',
      in_reply_to: first.messageId,
    });
    expect(answer.threadId).toBe(first.threadId);
    const [sent] = sink.byMessageId(answer.messageId);
    expect(sent!.raw.toString('latin1')).not.toMatch(/missing-message-id|^(?:In-Reply-To|References):/im);
  });

  it('is the sent one when its copy comes back, and settles an unknown outcome', async () => {
    const sent = await send({ to: 'ada@customer.test', subject: 'Kopie', text_body: 'a' });
    const [copy] = sink.byMessageId(sent.messageId);
    await setUnknown(sent.id);
    const back = await receive(service, copy!.raw);
    expect(back).toEqual({ ...sent, status: 'duplicate' });
    expect(await emailOf(sent.id)).toMatchObject({ direction: 'outbound', state: 'sent' });
    const forged = copy!.raw.toString('latin1').replace(/^From: .*$/m, 'From: eve@elsewhere.test');
    expect(await receive(service, forged)).toMatchObject({ status: 'received', threadId: sent.threadId });
  });

  it('has to come again when it comes back before the sent one is recorded', { tags: ['long'] }, async () => {
    let early: Response | undefined;
    const fast = await startSmtpSink({
      onData(stream, _session, callback) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          void post(other, (raw = Buffer.concat(chunks))).then((response) => {
            early = response;
            callback(null, 'ok');
          });
        });
      },
    });
    let raw = Buffer.alloc(0);
    const other = await startServiceProcess({
      env: { DATABASE_URL: database.connectionString, SMTP_URL: fast.url, MAIL_FROM: 'sales@example.com' },
    });
    const response = await other.request('/api/send', {
      json: { to: 'sales@example.com', subject: 'An uns', text_body: 'a' },
    });
    const sent = (await response.json()) as { id: string };
    expect(early?.status).toBe(503);
    expect(await early?.json()).toMatchObject({ code: 'busy' });
    expect(await receive(other, raw)).toMatchObject({ status: 'duplicate', id: sent.id });
    await disposeService(other);
    await fast.stop();
  });

  it('is found by the Message-ID that the relay gave the sent one', async () => {
    const sent = await send({ to: 'ada@customer.test', subject: 'Umgeschrieben', text_body: 'a' });
    const [copy] = sink.byMessageId(sent.messageId);
    const relayed = `<relay-${randomUUID()}@relay.test>`;
    await query(database.connectionString, 'update emails set relay_message_id = $2 where id = $1', [
      sent.id,
      relayed.slice(1, -1),
    ]);
    const back = copy!.raw.toString('latin1').replace(sent.messageId, relayed);
    expect(await receive(service, back)).toMatchObject({ status: 'duplicate', id: sent.id });
  });
});

describe('a delivery report', () => {
  it('joins the thread of the email it returns, and settles its unknown outcome', async () => {
    const sent = await send({ to: 'nobody@customer.test', subject: 'Weg', text_body: 'a' });
    await setUnknown(sent.id);
    const report = await receive(
      service,
      mail({
        from: 'MAILER-DAEMON@customer.test',
        subject: 'Undelivered Mail Returned to Sender',
        headers: [
          'Auto-Submitted: auto-replied',
          'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
        ],
        body: [
          '--b\r\n\r\nSorry\r\n--b',
          'Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.customer.test\r\n',
          'Final-Recipient: rfc822; nobody@customer.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b',
          `Content-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${sent.messageId}\r\nSubject: Weg\r\n\r\n--b--`,
        ].join('\r\n'),
      }),
    );
    expect(report.threadId).toBe(sent.threadId);
    expect(await emailOf(report.id)).toMatchObject({
      automatic: { kind: 'bounce', suppress_replies: true },
      placement: { rule: 'bounce', matched_message_id: sent.messageId },
    });
    expect(await emailOf(sent.id)).toMatchObject({ state: 'sent' });
  });
});

async function setUnknown(id: string): Promise<void> {
  await query(
    database.connectionString,
    `with d as (update email_deliveries set state = 'unknown' where email_id = $1)
     update emails set state = 'unknown' where id = $1`,
    [id],
  );
}

describe('the request', () => {
  it.each([
    ['another type', { 'content-type': 'text/plain' }, '', 'x', 415, 'message_expected'],
    ['no message', { 'content-type': 'message/rfc822' }, '', '', 400, 'invalid_request'],
    [
      'an unknown account',
      { 'content-type': 'message/rfc822' },
      '?account_id=no',
      'x',
      400,
      'unknown_account',
    ],
    [
      'an unknown parameter',
      { 'content-type': 'message/rfc822' },
      '?acount=x',
      'x',
      400,
      'unknown_parameter',
    ],
    [
      'no secret',
      { 'content-type': 'message/rfc822', authorization: '' },
      '',
      'x',
      401,
      'invalid_credentials',
    ],
  ])('is refused with %s', async (_name, headers, parameters, body, status, code) => {
    const response = await service.request(`/api/inbound${parameters}`, { method: 'POST', body, headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('keeps the bytes and the files of a large message', async () => {
    const file = randomBytes(400_000);
    const encoded = file.toString('base64').replace(/.{76}/g, '$&\r\n');
    const raw = mail({
      headers: ['Content-Type: multipart/mixed; boundary=b'],
      body: `--b\r\n\r\ntext\r\n--b\r\nContent-Disposition: attachment; filename="../ä.bin"\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}\r\n--b--`,
    });
    const { id } = await receive(service, raw);
    const detail = await emailOf(id);
    expect(detail).toMatchObject({ text_body: 'text', has_attachments: true });
    const [attachment] = detail.email_attachments as {
      id: string;
      storage_path: string;
      size_bytes: number;
    }[];
    expect(attachment).toMatchObject({ size_bytes: file.length });
    expect(attachment!.storage_path).toMatch(new RegExp(`^default/${id}/[^/]+$`));
    const stored = await service.request(`/api/attachments/${attachment!.id}`);
    const digest = (bytes: ArrayBuffer | Buffer) =>
      createHash('sha256')
        .update(Buffer.from(bytes as Buffer))
        .digest('hex');
    expect(digest(await stored.arrayBuffer())).toBe(digest(file));
    const kept = await service.request(`/api/emails/${id}/raw`);
    expect(digest(await kept.arrayBuffer())).toBe(digest(Buffer.from(raw)));
  });

  it('records what passes a limit, with what could be read', async () => {
    const many = Array.from({ length: 12_000 }, (_, index) => `X-${index}: y`);
    const { id } = await receive(service, mail({ subject: 'Viel', headers: many }));
    const detail = await emailOf(id);
    expect(detail).toMatchObject({ subject: 'Viel', state: 'received' });
    expect(detail.defects).toContain('limit_passed');
  });

  it('is answered with 503 while the database is unavailable', async () => {
    const away = await createTestDatabase();
    const other = await startServiceProcess({ env: { DATABASE_URL: away.connectionString } });
    await away.drop();
    const response = await post(other, mail());
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'database_unavailable' });
    await disposeService(other);
  });
});
