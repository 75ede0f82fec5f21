/** Invitations: read, shown, found, answered by iTIP, and forwarded as they came. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInvitation } from '../../src/core/calendar/read-invitation.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import { decodeTransfer } from '../../src/core/mime/parse/transfer-decoding.ts';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { invitationMail, type InvitationFields } from '../helpers/invitation-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, startServiceWithSink } from '../helpers/running-service.ts';

type Json = Record<string, unknown>;
interface InvitationJson extends Json {
  readonly replaced_by: { readonly email_id: string; readonly method: string } | null;
  readonly answer: { readonly email_id: string; readonly status: string } | null;
}
interface EmailJson {
  readonly id: string;
  readonly thread_id: string;
  readonly text_body: string;
  readonly reply_text: string | null;
  readonly defects: readonly string[];
  readonly invitation: InvitationJson | null;
  readonly email_attachments: readonly { readonly id: string; readonly content_type: string }[];
}

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const invite = (fields: InvitationFields = {}) => receive(running.service, invitationMail(fields));
const emailOf = (id: string) => getJson<EmailJson>(running.service, `/api/emails/${id}`);
const invitationOf = async (id: string) => (await emailOf(id)).invitation;

async function answer(id: string, json: object, headers: Record<string, string> = {}, search = '') {
  const response = await running.service.request(`/api/emails/${id}/invitation-answer${search}`, {
    json,
    headers,
  });
  return { status: response.status, json: (await response.json()) as Json };
}

describe('a received invitation', () => {
  it('is an object of the email, in words where the email has no text, and found by summary and place', async () => {
    const { id, threadId } = await invite();
    const email = await emailOf(id);
    expect(email.invitation).toMatchObject({
      method: 'request',
      component: 'event',
      sequence: 0,
      recurrence_id: null,
      summary: 'Abnahme Zugspitzplatt',
      location: 'Gletscherrampe',
      start: {
        local: '2026-05-12T10:00:00',
        utc: '2026-05-12T08:00:00Z',
        time_zone: 'Europe/Berlin',
        time_zone_name: 'W. Europe Standard Time',
      },
      all_day: false,
      organizer: { name: 'Ada', address: 'ada@customer.test' },
      organizer_is_sender: true,
      attendees: [
        { name: 'Sales', address: 'sales@example.com', status: 'needs_action', role: 'required', rsvp: true },
      ],
      replaced_by: null,
      answer: null,
    });
    const words =
      'Einladung: Abnahme Zugspitzplatt\nWann: Dienstag, 12. Mai 2026, 10:00–11:00 Uhr (Europe/Berlin)\nWo: Gletscherrampe\nVon: Ada <ada@customer.test>\nEingeladen: Sales <sales@example.com>';
    expect([email.text_body, email.reply_text]).toEqual([words, words]);
    const page = await getJson<{ emails: readonly EmailJson[] }>(running.service, `/api/threads/${threadId}`);
    expect(page.emails[0]?.invitation).toEqual(email.invitation);
    const events = await query(
      running.database.connectionString,
      `select data::json -> 'invitation' ->> 'method' as method from events where email_id = $1 and type = 'email.received'`,
      [id],
    );
    expect(events).toEqual([{ method: 'request' }]);
  });

  it('is named by the event of its email, and the event of another email names none', async () => {
    const { connectionString } = running.database;
    const ids = [
      (await invite({ uid: 'of-the-event', sequence: 3 })).id,
      (await receive(running.service, mail())).id,
    ];
    await backgroundWorkIsDone(connectionString);
    const named = ids.map((id) =>
      query(
        connectionString,
        `select data::json -> 'invitation' as invitation from events where email_id = $1 and type = 'email.received'`,
        [id],
      ),
    );
    expect(await Promise.all(named)).toEqual([
      [{ invitation: { method: 'request', uid: 'of-the-event', sequence: 3 } }],
      [{ invitation: null }],
    ]);
  });

  it('is found by words that the text of the email lacks', async () => {
    const { threadId } = await invite({ text: 'Siehe Kalender.' });
    await backgroundWorkIsDone(running.database.connectionString);
    for (const q of ['Zugspitzplatt', 'Gletscherrampe']) {
      const { threads } = await getJson<{ threads: readonly { readonly id: string }[] }>(
        running.service,
        `/api/threads?q=${q}&limit=50`,
      );
      expect(threads.map((thread) => thread.id)).toContain(threadId);
    }
  });

  it('that is damaged is a defect and a file', async () => {
    const raw = invitationMail({ text: 'Hallo' }).replace(/BEGIN:VEVENT[^]*END:VEVENT/, 'BEGIN:VEV');
    const email = await emailOf((await receive(running.service, raw)).id);
    expect(email).toMatchObject({ text_body: 'Hallo', invitation: null });
    expect(email.defects).toContain('damaged_calendar');
    expect(email.email_attachments).toHaveLength(1);
  });

  it('is replaced by a later one of its organizer, and by nothing that another person claims', async () => {
    const uid = randomUUID();
    const first = await invite({ uid });
    await invite({ uid, sequence: 7, organizer: 'eve@customer.test', from: 'eve@customer.test' });
    expect(await invitationOf(first.id)).toMatchObject({ replaced_by: null });
    const update = await invite({ uid, sequence: 1 });
    expect((await invitationOf(first.id))?.replaced_by).toEqual({ email_id: update.id, method: 'request' });
    const cancel = await invite({ uid, sequence: 1, method: 'CANCEL' });
    expect((await emailOf(cancel.id)).text_body).toMatch(/^Abgesagt: Abnahme Zugspitzplatt\n/);
    for (const { id } of [first, update]) {
      expect((await invitationOf(id))?.replaced_by).toEqual({ email_id: cancel.id, method: 'cancel' });
    }
    expect(await answer(first.id, { answer: 'accepted' })).toMatchObject({
      status: 409,
      json: { code: 'invitation_cancelled' },
    });
  });
});

describe('an answer to an invitation', () => {
  it('is a REPLY to the organizer, in the thread, from the address that was invited', async () => {
    const uid = randomUUID();
    const invited = await invite({ uid, sequence: 3, text: 'Bitte kommen.' });
    const checked = await answer(invited.id, { answer: 'tentative' }, {}, '?dry_run=true');
    expect(checked).toMatchObject({
      status: 200,
      json: { status: 'checked', subject: 'Unter Vorbehalt zugesagt: Abnahme Zugspitzplatt' },
    });
    const key = { 'idempotency-key': randomUUID() };
    const sent = await answer(invited.id, { answer: 'tentative', comment: 'Vielleicht später.' }, key);
    expect(sent).toMatchObject({ status: 200, json: { status: 'sent', threadId: invited.threadId } });
    expect(await answer(invited.id, { answer: 'tentative', comment: 'Vielleicht später.' }, key)).toEqual(
      sent,
    );
    expect(await answer(invited.id, { answer: 'accepted' }, key)).toMatchObject({
      status: 409,
      json: { code: 'idempotency_key_reused' },
    });

    const messages = running.sink.byMessageId(String(sent.json['messageId']));
    expect(messages.map(({ mailFrom, rcptTo }) => ({ mailFrom, rcptTo }))).toEqual([
      { mailFrom: 'sales@example.com', rcptTo: ['ada@customer.test'] },
    ]);
    const raw = messages[0]?.raw ?? Buffer.alloc(0);
    expect(raw.toString()).toMatch(/\r\nContent-Type: text\/calendar; charset=utf-8; method=REPLY\r\n/);
    const message = parseMessage(raw);
    expect(message).toMatchObject({
      text: 'Vielleicht später.\n\nUnter Vorbehalt zugesagt: Abnahme Zugspitzplatt',
      contentType: 'multipart/alternative',
      defects: [],
      invitation: {
        method: 'reply',
        uid,
        sequence: 3,
        organizer: { name: 'Ada', address: 'ada@customer.test' },
        attendees: [{ name: 'Sales', address: 'sales@example.com', status: 'tentative' }],
        comment: 'Vielleicht später.',
      },
    });
    expect(message.inReplyTo).toHaveLength(1);

    expect((await invitationOf(invited.id))?.answer).toMatchObject({
      email_id: sent.json['id'],
      status: 'tentative',
    });
    expect(await invitationOf(String(sent.json['id']))).toMatchObject({ method: 'reply', uid });
    // A later answer counts.
    const again = await answer(invited.id, { answer: 'declined', language: 'en' });
    expect((await invitationOf(invited.id))?.answer).toMatchObject({
      email_id: again.json['id'],
      status: 'declined',
    });
  });

  it('keeps its calendar when it waits and is changed', async () => {
    const invited = await invite();
    const sendAt = new Date(Date.now() + 86_400_000).toISOString();
    const { json } = await answer(invited.id, { answer: 'accepted', send_at: sendAt });
    const changed = await running.service.request(`/api/emails/${String(json['id'])}`, {
      method: 'PATCH',
      headers: { 'if-match': '"1"' },
      json: { text_body: 'Wir kommen.' },
    });
    expect(changed.status).toBe(200);
    const raw = await running.service.request(`/api/emails/${String(json['id'])}/raw`);
    expect(parseMessage(Buffer.from(await raw.arrayBuffer()))).toMatchObject({
      text: 'Wir kommen.',
      invitation: { method: 'reply', attendees: [{ status: 'accepted' }] },
    });
  });

  it.each<[string, InvitationFields, object, number, string]>([
    ['for what is no request', { method: 'PUBLISH' }, {}, 409, 'no_invitation'],
    ['for a cancellation', { method: 'CANCEL' }, {}, 409, 'invitation_cancelled'],
    ['for what is cancelled by its status', { lines: ['STATUS:CANCELLED'] }, {}, 409, 'invitation_cancelled'],
    ['when another address was invited', { attendee: 'office@example.com' }, {}, 409, 'not_invited'],
    [
      'when the organizer is not the sender',
      { organizer: 'eve@other.test' },
      {},
      409,
      'organizer_not_sender',
    ],
    ['when another organizer is confirmed', {}, { organizer: 'eve@other.test' }, 409, 'organizer_not_sender'],
    ['when the answer is none', {}, { answer: 'yes' }, 400, 'invalid_request'],
    ['with a field that it has not', {}, { to: 'eve@other.test' }, 400, 'unknown_field'],
    ['with a comment that is too long', {}, { comment: 'x'.repeat(2001) }, 400, 'invalid_request'],
  ])('is refused %s', async (_, fields, json, status, code) => {
    const { id } = await invite(fields);
    const { length } = running.sink.messages;
    expect(await answer(id, { answer: 'accepted', ...json })).toMatchObject({ status, json: { code } });
    expect(running.sink.messages).toHaveLength(length);
  });

  it('names the address that was not invited, and the organizer to confirm', async () => {
    const uninvited = await invite({ attendee: 'office@example.com' });
    const { json } = await answer(uninvited.id, { answer: 'accepted' });
    expect(json['error']).toContain('sales@example.com');
    const foreign = await invite({ organizer: 'eve@other.test' });
    expect(await invitationOf(foreign.id)).toMatchObject({ organizer_is_sender: false });
    expect((await answer(foreign.id, { answer: 'accepted' })).json['error']).toContain('eve@other.test');
    const sent = await answer(foreign.id, { answer: 'accepted', organizer: 'Eve@other.test' });
    expect(running.sink.byMessageId(String(sent.json['messageId']))[0]?.rcptTo).toEqual(['eve@other.test']);
  });
});

it('is forwarded with its method and its content, and so is its file in a reply', async () => {
  const { id } = await invite({ text: 'Bitte kommen.' });
  const [file] = (await emailOf(id)).email_attachments;
  const sends = [
    { path: `/api/emails/${id}/forward`, json: { to: 'bob@other.test' } },
    {
      path: `/api/emails/${id}/reply`,
      json: { text_body: 'Dieser?', attachments: [{ attachment_id: file?.id }] },
    },
  ];
  for (const { path, json } of sends) {
    const response = await running.service.request(path, { json });
    const { messageId } = (await response.json()) as { messageId: string };
    const raw = running.sink.byMessageId(messageId)[0]?.raw ?? Buffer.alloc(0);
    const message = parseMessage(raw);
    expect(message.attachments.map(({ contentType }) => contentType)).toEqual([
      'text/calendar; method=REQUEST; charset=utf-8',
    ]);
    const [calendar] = message.attachments;
    if (calendar?.content.kind !== 'range') throw new Error('the calendar is missing');
    const { start, end, encoding } = calendar.content;
    const text = decodeTransfer(raw.subarray(start, end), encoding).toString();
    expect(invitationMail({ uid: String(message.invitation?.uid), text: 'Bitte kommen.' })).toContain(text);
    expect(readInvitation(text, null).invitation).toMatchObject({ method: 'request', sequence: 0 });
  }
});
