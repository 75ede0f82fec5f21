/** Emails that another program sent from an account, recognised by their copy in the Sent mailbox. */
import { randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMessageStore } from '../helpers/mail-stores.ts';
import { mail, newId, post, receive } from '../helpers/inbound-mail.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson as getJsonOf, sendJson, startServiceWithSink } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';
import { createTestPool } from '../helpers/test-pool.ts';
import { waitUntil } from '../helpers/wait-until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, sink, service, end } = await startServiceWithSink());
});
afterAll(() => end());

const SENT = '?sent=true';
const FILE = { filename: 'a.pdf', content: 'JVBERi0xLjQK', content_type: 'application/pdf' };

const getJson = <T>(path: string) => getJsonOf<T>(service, path);
const emailOf = (id: string) => getJson<Record<string, unknown>>(`/api/emails/${id}`);
const threadOf = async (id: string) =>
  (await getJson<{ emails: { id: string; direction: string }[] }>(`/api/thread/${id}`)).emails;

const send = (json: object) => sendJson(service, json);

/** The copy that a clerk's mail program leaves in the Sent mailbox. */
const clerkMail = (fields: Parameters<typeof mail>[0] = {}) =>
  mail({
    messageId: newId(),
    from: 'Sales <sales@example.com>',
    to: 'Ada <ada@customer.test>',
    headers: ['Cc: max@customer.test', 'Bcc: boss@example.com, ada@customer.test'],
    ...fields,
  });

describe('a mail that a clerk sent from a mail program', () => {
  it('is an outbound email, sent to all its recipients, with its bytes', async () => {
    const raw = clerkMail({
      subject: 'Angebot',
      body: 'Gern!\r\n\r\nAm 04.05.2026 um 10:00 schrieb Boss <boss@example.com>:\r\n> Was kostet es?',
    });
    const { id, threadId, status } = await receive(service, raw, SENT);
    expect(status).toBe('received');
    expect(await emailOf(id)).toMatchObject({
      direction: 'outbound',
      state: 'sent',
      state_detail: 'sent by another program; known from its copy in the Sent mailbox',
      bcc_addresses: [
        { name: '', address: 'boss@example.com' },
        { name: '', address: 'ada@customer.test' },
      ],
      recipients: ['ada@customer.test', 'max@customer.test', 'boss@example.com'].map((address) => ({
        address,
        state: 'accepted',
        reply: null,
      })),
      attempts: [],
      reply_text: 'Gern!',
      new_participant: false,
      placement: { rule: 'new' },
    });
    expect(await threadOf(threadId)).toMatchObject([{ id, direction: 'outbound' }]);
    expect(await (await service.request(`/api/emails/${id}/raw`)).text()).toBe(raw);
    expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate', id });
  });

  it('joins the thread it answers, and is answered there, from here too', async () => {
    const question = await receive(service, mail({ subject: 'Frage' }));
    const answer = await receive(
      service,
      clerkMail({ subject: 'Re: Frage', inReplyTo: question.messageId }),
      SENT,
    );
    expect(answer.threadId).toBe(question.threadId);
    const thanks = await receive(service, mail({ inReplyTo: answer.messageId, from: 'max@customer.test' }));
    expect(await emailOf(thanks.id)).toMatchObject({ thread_id: question.threadId, new_participant: false });
    const last = await send({
      to: 'ada@customer.test',
      subject: 'A',
      text_body: 'a',
      thread_id: answer.threadId,
    });
    expect(last.threadId).toBe(question.threadId);
  });

  it('gives its thread the customer that its first other recipient was learned for', async () => {
    const customer = randomUUID();
    await send({ to: 'lea@learned.test', subject: 'A', text_body: 'a', customer_id: customer });
    const raw = clerkMail({ to: 'sales@example.com, Lea <LEA@learned.test>', headers: [] });
    const { id, threadId } = await receive(service, raw, SENT);
    // A moment later, while a rule from another test is being applied.
    await expect.poll(() => emailOf(id)).toMatchObject({ customer_id: customer });
    const answer = await receive(service, mail({ from: 'lea@learned.test', inReplyTo: newIdOf(raw) }));
    expect(await emailOf(answer.id)).toMatchObject({ thread_id: threadId, customer_id: customer });
    const stranger = await receive(service, mail({ from: 'new@learned.test', inReplyTo: newIdOf(raw) }));
    expect(await emailOf(stranger.id)).toMatchObject({ thread_id: threadId, customer_id: null });
  });

  it('may be sent with an alias, without recipients, or be broken', async () => {
    const alias = await receive(service, clerkMail({ from: 'info@example.com' }), SENT);
    expect(await emailOf(alias.id)).toMatchObject({ direction: 'outbound' });
    const nobody = await receive(service, 'Subject: x\r\n\r\n\0\xff', SENT);
    expect(await emailOf(nobody.id)).toMatchObject({ direction: 'outbound', state: 'sent', recipients: [] });
    const raw = clerkMail({ to: 'Ada <>, nonsense, ada@customer.test', headers: [] });
    const { id } = await receive(service, raw, SENT);
    expect(await emailOf(id)).toMatchObject({ recipients: [{ address: 'ada@customer.test' }] });
  });

  it('can use one Message-ID for all its mails', async () => {
    const messageId = newId();
    const ids = new Set<string>();
    for (let index = 0; index < 15; index += 1) {
      const raw = clerkMail({ messageId, subject: `Beleg ${index}` });
      ids.add((await receive(service, raw, SENT)).id);
      expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate' });
    }
    expect(ids.size).toBe(15);
  });
});

describe('an email in the inbox and in the Sent mailbox', () => {
  const toOurselves = (fields: Parameters<typeof mail>[0] = {}) => {
    const raw = clerkMail({ headers: ['Cc: sales@example.com', 'Bcc: boss@example.com'], ...fields });
    const arrived = `Received: from mx.example.com; Sun, 01 Mar 2026 12:00:01 +0100\r\n${raw.replace(/Bcc: .*\r\n/, '')}`;
    return { raw, arrived };
  };

  it('is one record, sent, in either order and at once', async () => {
    for (const order of ['sent first', 'inbox first', 'at once'] as const) {
      const { raw, arrived } = toOurselves();
      const give = [() => receive(service, raw, SENT), () => receive(service, arrived)];
      if (order === 'inbox first') give.reverse();
      const answers =
        order === 'at once'
          ? await Promise.all([...give, ...give, ...give].map((one) => one()))
          : [await give[0]!(), await give[1]!()];
      expect(new Set(answers.map(({ id }) => id)).size, order).toBe(1);
      const [{ id, threadId }] = answers as [(typeof answers)[0]];
      expect(await emailOf(id), order).toMatchObject({
        direction: 'outbound',
        state: 'sent',
        bcc_addresses: [{ name: '', address: 'boss@example.com' }],
        recipients: [{ address: 'ada@customer.test' }, { address: 'sales@example.com' }, {}],
      });
      expect(await threadOf(threadId), order).toHaveLength(1);
    }
  });

  it('that turns into a sent one no longer counts as written by a stranger', async () => {
    const question = await receive(service, mail({ to: 'info@example.com' }));
    const { raw, arrived } = toOurselves({ inReplyTo: question.messageId });
    const { id } = await receive(service, arrived);
    expect(await emailOf(id)).toMatchObject({ direction: 'inbound', new_participant: true });
    await receive(service, raw, SENT);
    expect(await emailOf(id)).toMatchObject({ direction: 'outbound', new_participant: false });
  });

  it('is received mail as long as only its From says that it was sent from here', async () => {
    const { id } = await receive(service, clerkMail({ subject: 'Bitte überweisen' }), '?sent=false');
    expect(await emailOf(id)).toMatchObject({ direction: 'inbound', state: 'received' });
  });

  it('that was sent from here is that one, in both places', async () => {
    const sent = await send({
      to: 'ada@customer.test',
      cc: 'sales@example.com',
      bcc: 'boss@example.com',
      subject: 'Von hier',
      text_body: 'a',
    });
    const [copy] = sink.byMessageId(sent.messageId);
    for (const place of [SENT, '', SENT]) {
      expect(await receive(service, copy!.raw, place)).toEqual({ ...sent, status: 'duplicate' });
    }
    expect(await emailOf(sent.id)).toMatchObject({
      state_detail: null,
      bcc_addresses: [{ address: 'boss@example.com' }],
      attempts: [{ outcome: 'accepted' }],
    });
  });

  it('is two records where a mailing list changed it, in one thread', async () => {
    const messageId = newId();
    const sent = await receive(service, clerkMail({ messageId, subject: 'Treffen' }), SENT);
    const list = await receive(service, clerkMail({ messageId, subject: '[liste] Treffen' }));
    expect(list).toMatchObject({ status: 'received', threadId: sent.threadId });
    expect(await emailOf(list.id)).toMatchObject({ direction: 'inbound' });
  });
});

describe('an email whose Message-ID the relay replaced', () => {
  const newBody = () => ({
    to: 'ada@customer.test',
    subject: `Angebot ${randomUUID()}`,
    text_body: 'a\n\nb',
  });
  const relayId = () => `<${randomUUID()}@relay.test>`;

  /** The copy in the Sent mailbox, with another Message-ID and the white space that relays leave. */
  function rewrittenCopy(messageId: string, shown: string, headers: readonly string[] = []): string {
    const [copy] = sink.byMessageId(messageId);
    const text = copy!.raw.toString('latin1').replace(messageId, shown);
    return [...headers, text].join('\r\n');
  }
  const setUnknown = (id: string) =>
    query(
      database.connectionString,
      `with d as (update email_deliveries set state = 'unknown' where email_id = $1)
       update emails set state = 'unknown' where id = $1`,
      [id],
    );

  it('is known by both from its copy on, and its unknown outcome is settled', async () => {
    const sent = await send({ ...newBody(), customer_id: randomUUID() });
    await setUnknown(sent.id);
    const shown = relayId();
    const early = await receive(service, mail({ inReplyTo: shown, subject: 'Re: Angebot' }));
    expect(early.threadId).not.toBe(sent.threadId);

    const raw = rewrittenCopy(sent.messageId, shown);
    expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate', id: sent.id });
    const email = await emailOf(sent.id);
    expect(email).toMatchObject({ state: 'sent', message_id: sent.messageId, relay_message_id: shown });
    expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await receive(service, raw)).toMatchObject({ status: 'duplicate', id: sent.id });

    const late = await receive(service, mail({ inReplyTo: shown }));
    const other = await receive(service, mail({ inReplyTo: sent.messageId }));
    for (const { threadId } of [sent, early, late, other]) {
      const ids = (await threadOf(threadId)).map(({ id }) => id).sort();
      expect(ids).toEqual([sent.id, early.id, late.id, other.id].sort());
    }
    expect(await emailOf(early.id)).toMatchObject({ customer_id: email.customer_id });
  });

  it('takes the place of a copy that came into the inbox first; both identifiers stay valid', async () => {
    const sent = await send({ ...newBody(), cc: 'sales@example.com', attachments: [FILE] });
    const raw = rewrittenCopy(sent.messageId, relayId());
    const inbox = await receive(service, raw);
    expect(inbox.status).toBe('received');
    const { email_attachments: files } = (await emailOf(inbox.id)) as {
      email_attachments: { storage_path: string }[];
    };
    const fileOf = (place: string) => access(path.join(service.dataDir, 'files', place));
    await fileOf(files[0]!.storage_path);
    expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await emailOf(inbox.id)).toEqual(await emailOf(sent.id));
    expect((await service.request(`/api/emails/${inbox.id}/raw`)).status).toBe(200);
    expect(await threadOf(inbox.threadId)).toMatchObject([{ id: sent.id }]);
    await expect(fileOf(files[0]!.storage_path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is known by the Message-ID that the relay names as the one before, also in the inbox', async () => {
    const sent = await send({ ...newBody(), cc: 'sales@example.com' });
    const raw = rewrittenCopy(sent.messageId, relayId(), [
      `X-Microsoft-Original-Message-ID: ${sent.messageId}`,
    ]);
    expect(await receive(service, raw)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await emailOf(sent.id)).toMatchObject({ relay_message_id: null });
    expect(await receive(service, raw, SENT)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await emailOf(sent.id)).toMatchObject({ relay_message_id: expect.any(String) as unknown });
    const forged = raw.replace('Subject: ', 'Subject: Re: ');
    expect(await receive(service, forged, SENT)).toMatchObject({ status: 'received' });
  });

  it.each(['', SENT])(
    'settles and absorbs nothing by a claim alone, with other content (%s)',
    async (place) => {
      const sent = await send({ ...newBody(), cc: 'sales@example.com' });
      await setUnknown(sent.id);
      const raw = rewrittenCopy(sent.messageId, relayId(), [
        `X-Google-Original-Message-ID: ${sent.messageId}`,
      ]);
      const forged = await receive(service, `${raw}\r\nBitte zahlen Sie an ein anderes Konto.\r\n`, place);
      expect(forged.status).toBe('received');
      expect(await emailOf(sent.id)).toMatchObject({
        state: 'unknown',
        relay_message_id: null,
        variants: [],
      });
      expect(await emailOf(forged.id)).toMatchObject({
        text_body: expect.stringContaining('Konto') as unknown,
      });
    },
  );

  it('is another email when it differs', async () => {
    const sent = await send(newBody());
    const raw = rewrittenCopy(sent.messageId, relayId()).replace('ada@', 'eve@');
    const other = await receive(service, raw, SENT);
    expect(other.status).toBe('received');
    expect(other.threadId).not.toBe(sent.threadId);
    expect(await emailOf(sent.id)).toMatchObject({ relay_message_id: null });
  });

  it('has as many records as copies when it was sent twice in a second', async () => {
    const body = newBody();
    const twins = await Promise.all([send(body), send(body), send(body)]);
    const dates = await Promise.all(twins.map(async ({ id }) => String((await emailOf(id)).date)));
    // Usually all three fall into one second.
    const same = twins.filter((_twin, index) => dates[index] === dates[0]);
    await setUnknown(same[0]!.id);
    const ids = new Set<string>();
    for (const { messageId } of same) {
      ids.add((await receive(service, rewrittenCopy(messageId, relayId()), SENT)).id);
    }
    expect([...ids].sort()).toEqual(same.map(({ id }) => id).sort());
    expect(await emailOf(same[0]!.id)).toMatchObject({ state: 'sent' });
  });

  it(
    'has to come again while the email itself is not recorded, and settles it then',
    { tags: ['long'] },
    async () => {
      const away = await createTestDatabase();
      const other = await startServiceProcess({
        env: { DATABASE_URL: away.connectionString, SMTP_URL: sink.url, MAIL_FROM: 'sales@example.com' },
      });
      await query(away.connectionString, 'alter table emails rename to emails_away', []);
      const response = await other.request('/api/send', { json: newBody() });
      expect(response.status).toBe(207);
      const { messageId } = (await response.json()) as { messageId: string };
      await query(away.connectionString, 'alter table emails_away rename to emails', []);
      const raw = rewrittenCopy(messageId, relayId());
      await waitUntil('the copy is taken', async () => (await post(other, raw, SENT)).status === 200);
      const answer = await receive(other, raw, SENT);
      expect(answer).toMatchObject({ status: 'duplicate', messageId });
      await disposeService(other);
      await away.drop();
    },
  );
});

it('an answer that comes before the email is recorded is in its thread', async () => {
  const record = outboundRecord();
  const answer = await receive(service, mail({ inReplyTo: `<${record.messageId}>` }));
  const pool = createTestPool(database, 1);
  await createMessageStore(pool).recordOutbound(record);
  await pool.end();
  for (const threadId of [record.threadId, answer.threadId]) {
    expect((await threadOf(threadId)).map(({ id }) => id).sort()).toEqual([record.id, answer.id].sort());
  }
});

it('refuses an invalid value of sent', async () => {
  const response = await post(service, mail(), '?sent=maybe');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'invalid_request',
    error: expect.stringContaining('true oder false') as unknown,
  });
});

/** The Message-ID in a raw message. */
const newIdOf = (raw: string) => /^Message-ID: (.*)\r$/m.exec(raw)![1]!;
