/** `if_newest`: an answer is not sent when its writer has not seen the whole thread. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface Answer {
  readonly status: number;
  readonly replayed: string | null;
  readonly json: {
    readonly id?: string;
    readonly code?: string;
    readonly status?: string;
    readonly new_emails?: readonly {
      readonly id: string;
      readonly direction: string;
      readonly author: string | null;
      readonly from_address: { readonly address: string };
      readonly subject: string;
      readonly preview: string;
    }[];
  };
}

const MOVED_ON = { status: 409, json: { code: 'thread_has_moved_on' } };

describe('if_newest', () => {
  let running: RunningService & { readonly sink: SmtpSink };

  beforeAll(async () => {
    running = await startServiceWithSink();
  });
  afterAll(() => running.end());

  async function post(path: string, json: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await running.service.request(path, { json, headers });
    return {
      status: response.status,
      replayed: response.headers.get('idempotency-replayed'),
      json: (await response.json()) as Answer['json'],
    };
  }

  /** A thread with one question, by its id. */
  async function question(): Promise<{
    readonly id: string;
    readonly threadId: string;
    readonly messageId: string;
  }> {
    const messageId = `<${randomUUID()}@customer.test>`;
    const received = await receive(
      running.service,
      mail({ subject: 'Where is my order?', from: 'Ann Example <ann@customer.test>', messageId }),
    );
    return { id: received.id, threadId: received.threadId, messageId };
  }

  const another = (inReplyTo: string) =>
    receive(
      running.service,
      mail({
        subject: 'Re: Where is my order?',
        from: 'Ann Example <ann@customer.test>',
        body: 'It has come.',
        messageId: `<${randomUUID()}@customer.test>`,
        // A clock that is years behind must not hide it.
        date: 'Wed, 1 Jan 2020 10:00:00 +0000',
        inReplyTo,
      }),
    );

  const answer = { text_body: 'On its way.', quote: false };

  it('lets one of two answers at the same moment go out, and names it to the other', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await question();
      const [one, other] = await Promise.all(
        ['First', 'Second'].map((text) =>
          post(`/api/emails/${id}/reply`, { ...answer, text_body: text, if_newest: id }),
        ),
      );
      const [won, lost] = one?.status === 202 ? [one, other] : [other, one];
      expect(won).toMatchObject({ status: 202, json: { status: 'queued' } });
      expect(lost).toMatchObject(MOVED_ON);
      expect(lost?.json.new_emails).toMatchObject([
        { id: won?.json.id, direction: 'outbound', from_address: { address: 'sales@example.com' } },
      ]);
    }
    await waitUntil('one answer to each has gone out', () =>
      Promise.resolve(running.sink.messages.length === 5),
    );
  });

  it('refuses an answer after an email that was received since, even one with an old date, and sends it once that is named', async () => {
    const { id, threadId, messageId } = await question();
    const late = await another(messageId);
    for (const [path, body] of [
      [`/api/emails/${id}/reply`, answer],
      [`/api/emails/${id}/reply-all`, answer],
      [`/api/emails/${id}/forward`, { to: 'bob@customer.test' }],
      ['/api/send', { to: 'ann@customer.test', subject: 'x', text_body: 'x', thread_id: threadId }],
      ['/api/send', { to: 'ann@customer.test', subject: 'x', text_body: 'x', in_reply_to: messageId }],
    ] as const) {
      for (const query of ['', '?dry_run=true']) {
        const refused = await post(`${path}${query}`, { ...body, if_newest: id });
        expect(refused).toMatchObject(MOVED_ON);
        expect(refused.json.new_emails).toMatchObject([
          { id: late.id, direction: 'inbound', author: null, preview: 'It has come.' },
        ]);
      }
    }
    expect(
      await post(`/api/emails/${id}/reply?dry_run=true`, { ...answer, if_newest: late.id }),
    ).toMatchObject({
      status: 200,
      json: { status: 'checked', would: 'queue' },
    });
    expect(await post(`/api/emails/${id}/reply`, { ...answer, if_newest: late.id })).toMatchObject({
      status: 202,
    });
  });

  it('answers the repeat of a send with its result, and lets a refused key be used again', async () => {
    const { id } = await question();
    const key = { 'idempotency-key': randomUUID() };
    const sent = await post(`/api/emails/${id}/reply`, { ...answer, if_newest: id }, key);
    expect(sent).toMatchObject({ status: 202, replayed: null });
    for (const newest of [id, sent.json.id])
      expect(await post(`/api/emails/${id}/reply`, { ...answer, if_newest: newest }, key)).toMatchObject({
        status: 202,
        replayed: 'true',
        json: { id: sent.json.id },
      });
    const second = { 'idempotency-key': randomUUID() };
    expect(await post(`/api/emails/${id}/reply`, { ...answer, if_newest: id }, second)).toMatchObject(
      MOVED_ON,
    );
    expect(
      await post(`/api/emails/${id}/reply`, { ...answer, if_newest: sent.json.id }, second),
    ).toMatchObject({ status: 202, replayed: null });
  });

  it('keeps a draft that is refused, and sends the same version once its writer has seen the rest', async () => {
    const { id, messageId } = await question();
    const draft = await post('/api/drafts', { answers: { email_id: id }, message: { text_body: 'Soon.' } });
    const late = await another(messageId);
    const send = (ifNewest: string) =>
      post(`/api/drafts/${draft.json.id}/send`, { if_newest: ifNewest }, { 'if-match': '"1"' });
    expect(await send(id)).toMatchObject(MOVED_ON);
    expect(
      (await getJson<{ being_sent: boolean }>(running.service, `/api/drafts/${draft.json.id}`)).being_sent,
    ).toBe(false);
    const sent = await send(late.id);
    expect(sent).toMatchObject({ status: 202 });
    expect(await send(id)).toMatchObject({ status: 202, replayed: 'true', json: { id: sent.json.id } });
  });

  it('names the emails of a thread that does not have the named one', async () => {
    const [one, other] = [await question(), await question()];
    const refused = await post(`/api/emails/${one.id}/reply`, { ...answer, if_newest: other.id });
    expect(refused).toMatchObject(MOVED_ON);
    expect(refused.json.new_emails).toMatchObject([{ id: one.id }]);
  });

  it('is refused outside a thread, and to a key that may not read', async () => {
    const { id, threadId } = await question();
    const message = { to: 'ann@customer.test', subject: 'x', text_body: 'x' };
    expect(await post('/api/send', { ...message, if_newest: id })).toMatchObject({
      status: 400,
      json: { code: 'invalid_request' },
    });
    expect(await post('/api/send', { ...message, thread_id: threadId, if_newest: 'newest' })).toMatchObject({
      status: 400,
      json: { code: 'invalid_uuid' },
    });
    const made = await running.service.request('/api/keys', {
      json: { name: 'Shop', account_ids: '*', rights: ['send'] },
    });
    const { secret } = (await made.json()) as { secret: string };
    expect(
      await post(
        '/api/send',
        { ...message, thread_id: threadId, if_newest: id },
        { authorization: `Bearer ${secret}` },
      ),
    ).toMatchObject({ status: 403, json: { code: 'forbidden_right' } });
  });
});
