/** Messages with the identity of a recorded email and different content. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMessageStore } from '../helpers/mail-stores.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { outboundRecord } from '../helpers/outbound-record.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { getJson as getJsonOf, startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
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

interface Email {
  readonly direction: string;
  readonly state: string;
  readonly text_body: string;
  readonly defects: readonly string[];
  readonly email_attachments: readonly { id: string; filename: string }[];
  readonly refused_variants: number;
  readonly received_by: { way: string; place: string | null } | null;
  readonly variants: readonly {
    id: string;
    received_at: string;
    received_by: { way: string; place: string | null } | null;
    sent_copy: boolean;
    size_bytes: number;
    content_digest: string;
  }[];
}

const getJson = <T>(path: string) => getJsonOf<T>(service, path);
const emailOf = (id: string) => getJson<Email>(`/api/emails/${id}`);
const textsOf = async (id: string) => {
  const { variants } = await emailOf(id);
  const details = await Promise.all(
    variants.map((variant) => getJson<{ text_body: string }>(`/api/emails/${id}/variants/${variant.id}`)),
  );
  return details.map(({ text_body }) => text_body);
};
const rawOf = async (path: string) => (await service.request(`${path}/raw`)).text();

describe('a message with the identity of a recorded one and other bytes', () => {
  const TEXT = 'Unsere IBAN ist DE1, bitte bis Freitag zahlen.';
  const MARKED = `${TEXT}\r\n-- \r\nListe der Kunden`;

  it('is a variant of the one record when a mark was added, kept whole, readable, and a defect', async () => {
    const messageId = newId();
    const real = mail({ messageId, body: TEXT });
    const forged = mail({ messageId, body: MARKED, headers: ['X-Spam: yes'] });
    const first = await receive(service, forged);
    expect(await emailOf(first.id)).toMatchObject({
      variants: [],
      defects: [],
      received_by: { way: 'http' },
    });
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await receive(service, real)).toEqual({ ...first, status: 'duplicate' });
    }
    const email = await emailOf(first.id);
    expect(email).toMatchObject({
      text_body: MARKED.replaceAll('\r\n', '\n'),
      defects: ['content_differs'],
      refused_variants: 0,
      variants: [
        { received_by: { way: 'http', place: null }, sent_copy: false, size_bytes: Buffer.byteLength(real) },
      ],
    });
    const [variant] = email.variants;
    expect(Date.parse(variant!.received_at)).toBeGreaterThan(Date.now() - 60_000);
    expect(await rawOf(`/api/emails/${first.id}/variants/${variant!.id}`)).toBe(real);
    expect(await textsOf(first.id)).toEqual([TEXT]);
    const other = await service.request(`/api/emails/${randomUUID()}/variants/${variant!.id}`);
    expect(other.status).toBe(404);
    expect(await other.json()).toMatchObject({ code: 'variant_not_found' });
    // The first message again: it is the recorded one.
    expect(await receive(service, forged)).toEqual({ ...first, status: 'duplicate' });
    expect((await emailOf(first.id)).variants).toHaveLength(1);
    const { emails } = await getJson<{ emails: { text_body: string }[] }>(`/api/thread/${first.threadId}`);
    expect(emails).toHaveLength(1);
  });

  it('is a variant without a defect when only the path differs', async () => {
    const messageId = newId();
    const text = mail({ messageId, body: 'Gr=C3=BC=C3=9Fe\r\nFrom hier' });
    const encoding = (name: string) =>
      text.replace(
        '\r\n\r\n',
        `\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${name}\r\n\r\n`,
      );
    const first = await receive(service, encoding('quoted-printable'));
    for (const again of [
      encoding('8bit').replace('Gr=C3=BC=C3=9Fe', 'Grüße'),
      encoding('8bit')
        .replace('Gr=C3=BC=C3=9Fe', 'Grüße')
        .replace('\nFrom', '\n>From')
        .replaceAll('\r\n', '\n'),
      `Received: from list.test\r\nDKIM-Signature: v=1\r\nX-Spam-Score: 3\r\n${encoding('quoted-printable')}\r\n\r\n`,
    ]) {
      expect(await receive(service, again)).toEqual({ ...first, status: 'duplicate' });
    }
    const variants = [{ same_content: true }, { same_content: true }, { same_content: true }];
    expect(await emailOf(first.id)).toMatchObject({ variants, defects: [] });
  });

  it('is a variant for one more attachment, also a large one, whose file the cleaning of files knows', async () => {
    const messageId = newId();
    const withFile = (content: string) =>
      mail({
        messageId,
        headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
        body:
          '--b\r\nContent-Type: text/plain\r\n\r\nanbei\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n' +
          `Content-Transfer-Encoding: base64\r\n\r\n${Buffer.from('a'.repeat(300_000)).toString('base64')}\r\n` +
          `${content === 'a' ? '' : `--b\r\nContent-Type: text/html; name=mark.html\r\n\r\n${`${content}\r\n`.repeat(300_000)}\r\n`}--b--`,
      });
    const first = await receive(service, withFile('a'));
    expect(await receive(service, withFile('b'))).toEqual({ ...first, status: 'duplicate' });
    expect(await receive(service, withFile('b'))).toEqual({ ...first, status: 'duplicate' });
    const { variants, email_attachments: files } = await emailOf(first.id);
    expect(files).toHaveLength(1);
    expect(variants).toHaveLength(1);
    expect(await rawOf(`/api/emails/${first.id}/variants/${variants[0]!.id}`)).toBe(withFile('b'));
    const [row] = await query(
      database.connectionString,
      'select raw_path from email_variants where email_id = $1',
      [first.id],
    );
    expect(row!.raw_path).toMatch(/^_raw\/default\/[0-9a-f-]{36}\.eml$/);
  });

  it.each([
    ['of a stranger is an email of its own', 'Ada <ada@customer.test>', 0],
    ['that claims to be of the account is only counted', 'sales@example.com', 2],
  ])('beyond the limit %s', async (_, from, refused) => {
    const messageId = newId();
    const text = (way: string) => `${TEXT} ${from.startsWith('Ada') ? '' : way}`;
    const send = (way: string) =>
      receive(service, mail({ messageId, from, headers: [`X-Way: ${way}`], body: text(way) }));
    const first = await send('one');
    await query(
      database.connectionString,
      `insert into email_variants
        (id, email_id, content_digest, raw_digest, received_at, is_sent_copy, text_body, raw_size_bytes, raw)
      select gen_random_uuid(), $1, sha256(n::text::bytea), sha256(n::text::bytea), now(), false, '', 1, 'x'
      from generate_series(1, 99) n`,
      [first.id],
    );
    const ids = new Set<string>();
    for (const way of ['two', 'three', 'two', 'four']) ids.add((await send(way)).id);
    expect(await emailOf(first.id)).toMatchObject({ refused_variants: refused });
    expect((await emailOf(first.id)).variants).toHaveLength(100);
    expect(ids.size).toBe(refused === 0 ? 2 : 1);
  });
});

describe('a message with the identity of a recorded one that says something else', () => {
  const rawsOf = async (list: readonly { id: string }[]) =>
    Promise.all(list.map(({ id }) => rawOf(`/api/emails/${id}`)));

  it.each([
    ['another text', { body: 'Unsere IBAN ist DE1' }, { body: 'Unsere IBAN ist XX9' }],
    [
      'another text without a Date',
      { date: '', body: 'Bitte um Rückruf' },
      { date: '', body: 'Wo bleibt mein Paket?' },
    ],
    [
      'a longer text without a Date',
      { date: '', body: 'Bitte um Rückruf wegen meiner Bestellung' },
      { date: '', body: 'Bitte um Rückruf wegen meiner Bestellung vom Mai' },
    ],
    [
      'another Reply-To',
      { headers: ['Reply-To: eva@kunde.test'] },
      { headers: ['Reply-To: max@kunde.test'] },
    ],
    [
      'neither Message-ID nor Date, and another Reply-To',
      { messageId: null, date: '', headers: ['Reply-To: eva@kunde.test'] },
      { messageId: null, date: '', headers: ['Reply-To: max@kunde.test'] },
    ],
    [
      'neither Message-ID nor Date, and another In-Reply-To',
      { messageId: null, date: '', inReplyTo: '<eins@kunde.test>' },
      { messageId: null, date: '', inReplyTo: '<zwei@kunde.test>' },
    ],
  ])('is another email with %s: both are read', async (name, one, other) => {
    const shared = { messageId: newId(), from: 'form@shop.test', subject: `Rückruf ${name}` };
    const raws = [one, other].map((fields) => mail({ ...shared, ...fields }).replace('Date: \r\n', ''));
    const received = [];
    for (const raw of raws) received.push(await receive(service, raw));
    expect(received.map(({ status }) => status)).toEqual(['received', 'received']);
    expect(await rawsOf(received)).toEqual(raws);
    // Each again is the one that it was.
    for (const [index, raw] of raws.entries()) {
      expect(await receive(service, raw)).toMatchObject({ status: 'duplicate', id: received[index]!.id });
      const again = await receive(service, `Delivered-To: x@shop.test\r\n${raw}`);
      expect(again).toMatchObject({ status: 'duplicate', id: received[index]!.id });
    }
  });

  it('is another email after the first one was deleted, which stays deleted, where Reply-To or In-Reply-To differs alone', async () => {
    const shared = {
      messageId: newId(),
      from: 'form@shop.test',
      subject: 'Rückruf',
      body: 'Bitte um Rückruf',
    };
    const raws = ['Reply-To: eva@kunde.test', 'Reply-To: max@kunde.test', 'In-Reply-To: <a@kunde.test>'].map(
      (field) => mail({ ...shared, headers: [field] }),
    );
    const byList = mail({
      ...shared,
      headers: ['List-Id: <kunden.shop.test>', 'Reply-To: kunden@shop.test'],
    });
    const received = [];
    for (const raw of raws.slice(0, 2)) received.push(await receive(service, raw));
    const remove = async (id: string) =>
      expect((await service.request(`/api/emails/${id}`, { method: 'DELETE' })).status).toBe(200);

    await remove(received[0]!.id);
    const last = await receive(service, raws[2]!);
    expect(await rawsOf([received[1]!, last])).toEqual([raws[1], raws[2]]);
    for (const raw of [raws[0]!, `X-Way: 2\r\n${raws[0]}`])
      expect(await receive(service, raw)).toMatchObject({ status: 'deleted', id: received[0]!.id });
    expect(await receive(service, raws[1]!)).toMatchObject({ status: 'duplicate', id: received[1]!.id });
    await remove(received[1]!.id);
    await remove(last.id);
    for (const raw of [...raws, byList])
      expect(await receive(service, raw)).toMatchObject({ status: 'deleted' });
    const other = mail({ ...shared, headers: ['Reply-To: ida@kunde.test'] });
    expect(await receive(service, other)).toMatchObject({ status: 'received' });
  });

  it('stays deleted with all that was added on its way, when another email has the key of its identity', async () => {
    const messageId = newId();
    const text = 'Bitte rufen Sie mich wegen meiner Bestellung zurück.';
    const [first, second, marked] = ['Anderes', text, `${text}\r\n-- \r\nListe`].map((body) =>
      mail({ messageId, body }),
    );
    await receive(service, first!);
    const { id } = await receive(service, second!);
    const listed = `List-Id: <kunden.shop.test>\r\nReply-To: kunden@shop.test\r\n${second!}`;
    expect(await receive(service, listed)).toMatchObject({ status: 'duplicate', id });
    await service.request(`/api/emails/${id}`, { method: 'DELETE' });
    for (const raw of [second!, listed])
      expect(await receive(service, raw)).toMatchObject({ status: 'deleted', id });
    expect(await receive(service, marked!)).toMatchObject({ status: 'received' });
  });

  it('is recorded after the first one was deleted, which stays deleted', async () => {
    const messageId = newId();
    const [one, other] = ['Unsere IBAN ist DE1', 'Unsere IBAN ist XX9'].map((body) =>
      mail({ messageId, body }),
    );
    const first = await receive(service, one!);
    const second = await receive(service, other!);
    const third = mail({ messageId, body: 'Unsere IBAN ist YY8' });
    await service.request(`/api/emails/${first.id}`, { method: 'DELETE' });
    expect(await receive(service, one!)).toMatchObject({ status: 'deleted' });
    expect(await receive(service, `X-Way: 2\r\n${one!}`)).toMatchObject({ status: 'deleted' });
    expect(await receive(service, other!)).toMatchObject({ status: 'duplicate', id: second.id });
    const last = await receive(service, third);
    expect(await rawsOf([second, last])).toEqual([other, third]);
    await service.request(`/api/emails/${second.id}`, { method: 'DELETE' });
    expect(await receive(service, other!)).toMatchObject({ status: 'deleted' });
  });
});

describe('a Sent copy', () => {
  const ours = (body: string, messageId: string) =>
    mail({ messageId, from: 'Sales <sales@example.com>', to: 'ada@customer.test', body });

  it('is what was sent, whatever a stranger sent under its identity before', async () => {
    const messageId = newId();
    const forged = await receive(service, ours('Zahlen Sie bitte an XX9', messageId));
    const copy = ours('Zahlen Sie bitte an DE1', messageId);
    expect(await receive(service, copy, SENT)).toMatchObject({ status: 'duplicate', id: forged.id });
    expect(await emailOf(forged.id)).toMatchObject({
      direction: 'outbound',
      state: 'sent',
      text_body: 'Zahlen Sie bitte an DE1',
      variants: [{ sent_copy: false }],
    });
    expect(await rawOf(`/api/emails/${forged.id}`)).toBe(copy);
    expect(await textsOf(forged.id)).toEqual(['Zahlen Sie bitte an XX9']);
    expect(await receive(service, copy, SENT)).toMatchObject({ status: 'duplicate', id: forged.id });
    expect((await emailOf(forged.id)).variants).toHaveLength(1);
  });

  it('stays what was sent when a stranger sends something under its identity after it', async () => {
    const messageId = newId();
    const sent = await receive(service, ours('DE1', messageId), SENT);
    expect(await receive(service, ours('XX9', messageId))).toMatchObject({
      status: 'duplicate',
      id: sent.id,
    });
    expect(await emailOf(sent.id)).toMatchObject({ direction: 'outbound', text_body: 'DE1' });
    expect(await textsOf(sent.id)).toEqual(['XX9']);
  });
});

describe('a message that bears the Message-ID of a send', () => {
  const body = () => ({ to: 'ada@customer.test', subject: `Angebot ${randomUUID()}`, text_body: 'DE1' });
  async function send(): Promise<{ id: string; messageId: string; raw: string }> {
    const response = await service.request('/api/send', { json: body() });
    expect(response.status).toBe(200);
    const { id, messageId } = (await response.json()) as { id: string; messageId: string };
    await query(
      database.connectionString,
      `with d as (update email_deliveries set state = 'unknown' where email_id = $1)
      update emails set state = 'unknown' where id = $1`,
      [id],
    );
    return { id, messageId, raw: sink.byMessageId(messageId)[0]!.raw.toString('latin1') };
  }

  it.each(['', SENT])('settles nothing when it says something else, and is a variant (%s)', async (place) => {
    const sent = await send();
    const forged = sent.raw.replace('DE1', 'XX9');
    expect(await receive(service, forged, place)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await emailOf(sent.id)).toMatchObject({ state: 'unknown', text_body: 'DE1' });
    expect(await textsOf(sent.id)).toEqual(['XX9']);
    expect(await receive(service, `Received: from relay.test\r\n${sent.raw}`, place)).toMatchObject({
      status: 'duplicate',
      id: sent.id,
    });
    expect(await emailOf(sent.id)).toMatchObject({ state: 'sent', text_body: 'DE1' });
    expect(await textsOf(sent.id)).toEqual(['XX9']);
  });

  it.each([
    ['another To', (raw: string) => raw.replace(/^To: .*$/m, 'To: eva@kunde.test')],
    ['another Cc', (raw: string) => raw.replace(/^To: /m, 'Cc: eva@kunde.test\r\nTo: ')],
    ['another Reply-To', (raw: string) => raw.replace(/^To: /m, 'Reply-To: eva@kunde.test\r\nTo: ')],
    ['another parent', (raw: string) => raw.replace(/^To: /m, 'In-Reply-To: <a@kunde.test>\r\nTo: ')],
  ])('settles nothing with %s and the same content, and is a variant', async (_, change) => {
    const sent = await send();
    const forged = change(sent.raw);
    expect(forged).not.toBe(sent.raw);
    expect(await receive(service, forged)).toMatchObject({ status: 'duplicate', id: sent.id });
    const { state, variants } = await emailOf(sent.id);
    expect([state, variants.length]).toEqual(['unknown', 1]);
    expect(await rawOf(`/api/emails/${sent.id}/variants/${variants[0]!.id}`)).toBe(forged);
    const back = `Return-Path: <sales@example.com>\r\nReceived: from relay.test\r\nDKIM-Signature: v=1\r\n${sent.raw}`;
    expect(await receive(service, back)).toMatchObject({ status: 'duplicate', id: sent.id });
    expect(await emailOf(sent.id)).toMatchObject({ state: 'sent', variants: [{ id: variants[0]!.id }] });
  });

  it.each([
    ['settles it', true],
    ['settles nothing', false],
  ])('and was recorded before it %s when it says %s what was sent', async (_, isOurs) => {
    const base = outboundRecord();
    const date = 'Sun, 01 Mar 2026 12:00:00 +0000';
    const text = (said: string) =>
      mail({
        messageId: `<${base.messageId}>`,
        from: 'Sales <sales@example.com>',
        subject: base.subject,
        date,
        body: said,
      });
    const toOther = text('DE1').replace(/^To: .*$/m, 'To: eva@kunde.test');
    const copies = [text('XX9'), isOurs ? `Received: x\r\n${text('DE1')}` : toOther];
    const early = await receive(service, copies[0]!);
    expect(await receive(service, copies[1]!)).toMatchObject({ status: 'duplicate', id: early.id });

    const raw = Buffer.from(text('DE1'));
    const pool = createTestPool(database, 1);
    await createMessageStore(pool).recordOutbound({
      ...base,
      from: { name: '', localPart: 'sales', domain: 'example.com' },
      date: new Date(date),
      state: 'unknown',
      textBody: 'DE1',
      raw,
      rawPath: null,
      rawSizeBytes: raw.length,
    });
    await pool.end();
    await waitUntil('the copies are compared', async () => {
      const rows = await query(
        database.connectionString,
        'select from email_variants where not is_compared',
        [],
      );
      return rows.length === 0;
    });
    const email = await emailOf(base.id);
    expect(email).toMatchObject({
      direction: 'outbound',
      state: isOurs ? 'sent' : 'unknown',
      text_body: 'DE1',
    });
    expect((await textsOf(base.id)).sort()).toEqual(isOurs ? ['XX9'] : ['DE1', 'XX9']);
    expect(await emailOf(early.id)).toEqual(email);
  });
});
