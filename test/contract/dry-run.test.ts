/** `dry_run=true`: the answer of the real thing, and no trace of it in any table or mailbox. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { sendJson, startServiceWithSink, type SentResult } from '../helpers/running-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';

type Json = Record<string, unknown>;

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let sent: SentResult;
let other: SentResult;
let received: { readonly id: string; readonly threadId: string };
const SEND = { to: 'Ann <ann@customer.test>', subject: 'Offer', text_body: 'Hello' };
beforeAll(async () => {
  running = await startServiceWithSink();
  sent = await sendJson(running.service, { ...SEND, customer_id: randomUUID() });
  other = await sendJson(running.service, SEND);
  received = await receive(running.service, mail({ subject: 'Hi', from: 'bob@customer.test' }));
  await ask('/api/suppressions/eve@customer.test', { method: 'PUT', json: {} });
  await backgroundWorkIsDone(running.database.connectionString);
});
afterAll(() => running.end());

async function ask(
  target: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<{ readonly status: number; readonly json: Json }> {
  const response = await running.service.request(target, init);
  return { status: response.status, json: (await response.json()) as Json };
}

async function withoutTrace<T>(work: () => Promise<T>): Promise<T> {
  const { connectionString } = running.database;
  await backgroundWorkIsDone(connectionString);
  const before = await readEverything(connectionString);
  const { length } = running.sink.messages;
  const result = await work();
  expect(await readEverything(connectionString)).toEqual(before);
  expect(running.sink.messages).toHaveLength(length);
  return result;
}

describe('a dry run of a send', () => {
  it('answers the email that it would be', async () => {
    const file = { filename: 'a.txt', content: Buffer.from('Hello').toString('base64') };
    const { status, json } = await withoutTrace(() =>
      ask('/api/send?dry_run=true', {
        json: { ...SEND, bcc: 'max@customer.test', attachments: [file], customer_id: randomUUID() },
      }),
    );
    expect([status, json]).toEqual([
      200,
      {
        status: 'checked',
        would: 'send',
        account_id: 'default',
        thread_id: null,
        from: '"Sales" <sales@example.com>',
        to: ['"Ann" <ann@customer.test>'],
        cc: [],
        bcc: ['max@customer.test'],
        subject: 'Offer',
        text_body: 'Hello',
        html_body: null,
        send_at: null,
        attachments: [{ filename: 'a.txt', content_type: 'application/octet-stream', size_bytes: 5 }],
        size_bytes: expect.any(Number) as number,
      },
    ]);
  });

  it('shows where an answer goes, with its quote', async () => {
    for (const path of ['reply', 'reply-all']) {
      const { json } = await withoutTrace(() =>
        ask(`/api/emails/${received.id}/${path}?dry_run=true`, { json: { text_body: 'Yes' } }),
      );
      expect(json).toMatchObject({
        status: 'checked',
        thread_id: received.threadId,
        to: ['bob@customer.test'],
        subject: 'Re: Hi',
        text_body: expect.stringMatching(/^Yes\n[^]*^> /m) as string,
      });
    }
    const { json } = await withoutTrace(() =>
      ask(`/api/emails/${received.id}/forward?dry_run=true`, { json: { to: 'ann@customer.test' } }),
    );
    expect(json).toMatchObject({ status: 'checked', to: ['ann@customer.test'] });
  });

  it('would be queued where the real one would', async () => {
    const send_at = new Date(Date.now() + 86_400_000).toISOString();
    const { json } = await withoutTrace(() =>
      ask('/api/send?dry_run=true', { json: { ...SEND, send_at, thread_id: sent.threadId } }),
    );
    expect(json).toMatchObject({ would: 'queue', send_at, thread_id: sent.threadId });
  });

  it.each([
    [{ to: 'eve@customer.test' }, 422, 'recipient_suppressed'],
    [{ to: 'ann@' }, 400, 'invalid_address'],
    [{ account_id: 'nobody' }, 400, 'unknown_account'],
    [{ thread_id: randomUUID() }, 404, 'thread_not_found'],
    [{ template_id: randomUUID() }, 404, 'template_not_found'],
  ])('is refused as the real one: %j', async (fields, status, code) => {
    const answer = await withoutTrace(() => ask('/api/send?dry_run=true', { json: { ...SEND, ...fields } }));
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
  });

  it('of a batch judges each email', async () => {
    const { json } = await withoutTrace(() =>
      ask('/api/send/batch?dry_run=true', { json: { emails: [SEND, { ...SEND, to: 'eve@customer.test' }] } }),
    );
    expect(json['results']).toMatchObject([
      { status: 'checked', http_status: 200 },
      { status: 'error', http_status: 422, code: 'recipient_suppressed' },
    ]);
  });

  it('takes no idempotency key, and no other value than true and false', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    for (const path of ['/api/send?dry_run=true', '/api/send?dry_run=yes', '/api/send?dry_run=']) {
      const { status, json } = await withoutTrace(() => ask(path, { json: SEND, headers }));
      expect([path, status, json['code']]).toEqual([path, 400, 'invalid_request']);
    }
  });
});

describe('a dry run of a deletion or a merge', () => {
  it('answers as the real one, which may follow', async () => {
    const merge = { json: { thread_id: other.threadId } };
    const path = `/api/thread/${sent.threadId}/merge`;
    const checked = await withoutTrace(() => ask(`${path}?dry_run=true`, merge));
    expect(checked).toEqual({
      status: 200,
      json: { thread_id: sent.threadId, changed: true, decision_id: null, decided_at: null },
    });
    expect((await ask(path, merge)).json).toMatchObject({ thread_id: sent.threadId, changed: true });
    const emails = await withoutTrace(() =>
      ask(`/api/threads/${sent.threadId}?dry_run=true`, { method: 'DELETE' }),
    );
    expect(emails).toEqual({ status: 200, json: { id: sent.threadId, emails: 2, deleted_at: null } });
    const one = await withoutTrace(() => ask(`/api/emails/${sent.id}?dry_run=true`, { method: 'DELETE' }));
    expect(one).toEqual({ status: 200, json: { id: sent.id, emails: 1, deleted_at: null } });
    const deleted = await ask(`/api/threads/${sent.threadId}`, { method: 'DELETE' });
    expect(deleted.json).toMatchObject({ emails: 2, deleted_at: expect.any(String) as string });
  });

  it('of an account with its mail counts, and keeps both', async () => {
    const account = { id: 'support', from: 'support@example.com' };
    expect((await ask('/api/accounts', { json: account })).status).toBe(201);
    await sendJson(running.service, { ...SEND, account_id: 'support' });
    const checked = await withoutTrace(() =>
      ask('/api/accounts/support?erase=true&dry_run=true', { method: 'DELETE' }),
    );
    expect(checked).toEqual({
      status: 200,
      json: { id: 'support', deleted_at: null, emails: 1, erasure_id: null },
    });
  });

  it('is refused as the real one', async () => {
    for (const [target, init, code] of [
      [`/api/emails/${randomUUID()}`, { method: 'DELETE' }, 'email_not_found'],
      [`/api/threads/${randomUUID()}`, { method: 'DELETE' }, 'thread_not_found'],
      ['/api/accounts/nobody', { method: 'DELETE' }, 'account_not_found'],
      [`/api/thread/${randomUUID()}/merge`, { json: { thread_id: received.threadId } }, 'thread_not_found'],
    ] as const) {
      const answer = await withoutTrace(() => ask(`${target}?dry_run=true`, init));
      expect([answer.status, answer.json['code']]).toEqual([404, code]);
    }
  });
});

describe('a dry run of an erasure', () => {
  it('counts what the real one erases', async () => {
    const address = 'zoe@person.test';
    const { id } = await receive(running.service, mail({ subject: 'Zoe', from: address }));
    const customer = randomUUID();
    await sendJson(running.service, { ...SEND, to: 'max@person.test', customer_id: customer });
    const file = { filename: 'a.txt', content: Buffer.from('Hello').toString('base64') };
    await sendJson(running.service, { ...SEND, to: `ann@customer.test, ${address}`, attachments: [file] });
    await ask(`/api/customer/${customer}/addresses`, { json: { address: 'max@person.test' } });
    await ask('/api/drafts', { json: { message: { to: address, subject: 'Draft' } } });
    await ask('/api/drafts', { json: { answers: { email_id: id } } });
    await ask(`/api/suppressions/${address}`, { method: 'PUT', json: { note: 'Zoe' } });
    for (const [person, least] of [
      [{ customer_id: customer }, { emails: 1, files: 0, drafts: 0, customer_rules: 1 }],
      [{ address }, { emails: 2, files: 1, drafts: 2, suppressions: 1, events: 3 }],
    ] as const) {
      const { status, json } = await withoutTrace(() => ask('/api/erasures?dry_run=true', { json: person }));
      expect([status, json]).toEqual([
        200,
        {
          state: 'checked',
          customer_id: 'customer_id' in person ? customer : null,
          erased: expect.any(Object) as object,
        },
      ]);
      const begun = await ask('/api/erasures', { json: person });
      const read = () => ask(`/api/erasures/${begun.json['id'] as string}`);
      await waitUntil('it is erased', async () => (await read()).json['state'] === 'done');
      expect((await read()).json['erased']).toEqual(json['erased']);
      expect(json['erased']).toMatchObject(least);
    }
  });

  it('is refused as the real one', async () => {
    for (const [person, code] of [
      [{}, 'invalid_request'],
      [{ address: 'zoe@' }, 'invalid_address'],
      [{ address: 'sales@example.com' }, 'own_address'],
    ] as const) {
      const { json } = await withoutTrace(() => ask('/api/erasures?dry_run=true', { json: person }));
      expect(json['code']).toBe(code);
    }
  });
});
