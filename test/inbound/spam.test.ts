/** Threads of spam, and blocked senders: what is hidden, what never is, and how it comes back. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson, startServiceWithSink } from '../helpers/running-service.ts';

type Json = Record<string, unknown>;

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

async function ask(path: string, init: RequestInit & { json?: unknown } = {}): Promise<[number, Json]> {
  const response = await running.service.request(path, init);
  return [response.status, (await response.json()) as Json];
}
const patch = (threadId: string, json: Json) => ask(`/api/threads/${threadId}`, { method: 'PATCH', json });
async function block(sender: string): Promise<string> {
  const [status, { id }] = await ask('/api/blocked-senders', { json: { sender } });
  expect(status).toBe(200);
  return id as string;
}
const unblock = (id: string) => ask(`/api/blocked-senders/${id}`, { method: 'DELETE' });

async function statusOf(threadId: string): Promise<unknown> {
  await backgroundWorkIsDone(running.database.connectionString);
  return (await getJson<{ thread: Json }>(running.service, `/api/threads/${threadId}`)).thread['status'];
}
async function lists(search: string, threadId: string): Promise<boolean> {
  const { threads } = await getJson<{ threads: { id: string }[] }>(
    running.service,
    `/api/threads?limit=200&${search}`,
  );
  return threads.some(({ id }) => id === threadId);
}
const skippedOf = async (emailId: string) =>
  (
    await query(
      running.database.connectionString,
      'select skipped from mail_rule_matches where email_id = $1',
      [emailId],
    )
  ).map(({ skipped }) => skipped);

describe('a thread of spam', () => {
  it('is in its own list and in that of all, is counted, found, and comes back', async () => {
    const { threadId } = await receive(
      running.service,
      mail({ subject: 'Gewinnspiel', from: 'win@spam.test' }),
    );
    await patch(threadId, { add_labels: ['win'] });
    const [status, record] = await patch(threadId, { status: 'spam' });
    expect([status, record['status']]).toEqual([200, 'spam']);
    await backgroundWorkIsDone(running.database.connectionString);
    const searches = ['status=open', 'status=done', 'unread=true', 'unanswered=true', 'direction=inbound'];
    for (const search of [...searches, 'status=open&label=win'])
      expect([search, await lists(search, threadId)]).toEqual([search, false]);
    for (const search of [
      'status=spam',
      'status=spam&unread=true',
      'status=spam&unanswered=true&direction=inbound',
      'status=spam&label=win',
      'status=spam&account_id=default',
      'status=spam&q=gewinnspiel',
      'q=gewinnspiel',
      '',
    ])
      expect([search, await lists(search, threadId)]).toEqual([search, true]);
    expect(await lists('status=spam&unread=false', threadId)).toBe(false);
    const { threads, labels } = await getJson<{ threads: Json; labels: Json[] }>(
      running.service,
      '/api/folders',
    );
    expect(threads).toMatchObject({ open: 0, unread: 0, done: 0, spam: 1, spam_of_customers: 0 });
    expect(labels).toEqual([{ label: 'win', open: 0 }]);
    await patch(threadId, { customer_id: randomUUID() });
    expect((await getJson<{ threads: Json }>(running.service, '/api/folders')).threads).toMatchObject({
      spam: 1,
      spam_of_customers: 1,
    });
    await patch(threadId, { status: 'open', customer_id: null });
    expect(await lists('status=open&unread=true', threadId)).toBe(true);
  });

  it('is opened by a person who writes', async () => {
    const messageId = newId();
    const { threadId } = await receive(running.service, mail({ messageId, from: 'a@person.test' }));
    await patch(threadId, { status: 'spam' });
    await receive(running.service, mail({ inReplyTo: messageId, from: 'b@person.test' }));
    expect(await statusOf(threadId)).toBe('open');
  });

  it('opens a thread that it is merged into, unless that is closed, too', async () => {
    const [one, other, third] = await Promise.all(
      ['1', '2', '3'].map((subject) =>
        receive(running.service, mail({ subject, from: `${subject}@m.test` })),
      ),
    );
    await patch(one!.threadId, { status: 'spam' });
    await patch(other!.threadId, { status: 'spam' });
    const merge = (id: string, into: string) =>
      ask(`/api/thread/${into}/merge`, { json: { thread_id: id, reason: 'test' } });
    await merge(other!.threadId, one!.threadId);
    expect(await statusOf(one!.threadId)).toBe('spam');
    await merge(third!.threadId, one!.threadId);
    expect(await statusOf(one!.threadId)).toBe('open');
  });
});

describe('a blocked sender', () => {
  it('writes into spam, from the first email on, until it is unblocked', async () => {
    const id = await block(' Ad@Spam.TEST ');
    expect(await block('ad@spam.test')).toBe(id);
    const messageId = newId();
    const first = await receive(running.service, mail({ messageId, from: 'Shop <AD@spam.test>' }));
    expect(await statusOf(first.threadId)).toBe('spam');
    await receive(running.service, mail({ inReplyTo: messageId, from: 'ad@spam.test' }));
    expect(await statusOf(first.threadId)).toBe('spam');
    const changes = await query(
      running.database.connectionString,
      `select author::json ->> 'id' as author from events where thread_id = $1 and type = 'thread.updated'`,
      [first.threadId],
    );
    expect(changes).toEqual([{ author: `blocked:${id}` }]);
    const [, list] = await ask('/api/blocked-senders');
    expect(list['blocked_senders']).toEqual([
      { id, sender: 'ad@spam.test', account_id: null, blocked_at: expect.any(String) as string },
    ]);
    expect((await unblock(id))[0]).toBe(200);
    expect(await unblock(id)).toEqual([404, expect.objectContaining({ code: 'blocked_sender_not_found' })]);
    const next = await receive(running.service, mail({ from: 'ad@spam.test' }));
    expect(await statusOf(next.threadId)).toBe('open');
    expect(await statusOf(first.threadId)).toBe('spam');
  });

  it('may be a domain, and is no other', async () => {
    const id = await block('*@bulk.test');
    const threads = await Promise.all(
      ['a@bulk.test', 'b@bulk.test', 'a@sub.bulk.test', 'a@bulk.test.example.org'].map((from) =>
        receive(running.service, mail({ from })),
      ),
    );
    const statuses: unknown[] = [];
    for (const { threadId } of threads) statuses.push(await statusOf(threadId));
    expect(statuses).toEqual(['spam', 'spam', 'open', 'open']);
    await unblock(id);
  });

  it.each(['nobody', 'a@', '*@*.example.com', '*', 'a b@c.test', '@example.com'])(
    'is never %s',
    async (sender) => {
      const [status, body] = await ask('/api/blocked-senders', { json: { sender } });
      expect([status, body['code']]).toEqual([400, 'invalid_request']);
    },
  );

  it('stays shown as a customer, also one that was taken for spam', async () => {
    const customer = randomUUID();
    await ask(`/api/customer/${customer}/addresses`, { json: { address: 'kunde@customer.test' } });
    const id = await block('*@customer.test');
    const messageId = newId();
    const { id: email, threadId } = await receive(
      running.service,
      mail({ messageId, from: 'kunde@customer.test' }),
    );
    expect(await statusOf(threadId)).toBe('open');
    expect(await skippedOf(email)).toEqual([['status']]);
    await patch(threadId, { status: 'spam' });
    await receive(running.service, mail({ inReplyTo: messageId, from: 'kunde@customer.test' }));
    expect(await statusOf(threadId)).toBe('open');
    await unblock(id);
  });

  it('stays in spam where a person put it, although we wrote in the thread', async () => {
    const id = await block('pest@spam.test');
    const sent = await sendJson(running.service, { to: 'pest@spam.test', subject: 'x', text_body: 'x' });
    const messageId = newId();
    await receive(running.service, mail({ messageId, inReplyTo: sent.messageId, from: 'pest@spam.test' }));
    expect(await statusOf(sent.threadId)).toBe('open');
    await patch(sent.threadId, { status: 'spam' });
    await receive(running.service, mail({ inReplyTo: messageId, from: 'pest@spam.test' }));
    expect(await statusOf(sent.threadId)).toBe('spam');
    await unblock(id);
  });

  it('is shown by nobody whose domain is blocked as well', async () => {
    const id = await block('*@gang.test');
    const messageId = newId();
    const { threadId } = await receive(running.service, mail({ messageId, from: 'a@gang.test' }));
    await receive(running.service, mail({ inReplyTo: messageId, from: 'b@gang.test' }));
    expect(await statusOf(threadId)).toBe('spam');
    await unblock(id);
  });

  it('may have a domain with other letters than those of ASCII', async () => {
    const id = await block('*@B\u00fccher.test');
    const { threadId } = await receive(running.service, mail({ from: 'a@xn--bcher-kva.test' }));
    expect(await statusOf(threadId)).toBe('spam');
    await unblock(id);
  });

  it('does not hide a conversation with others', async () => {
    const id = await block('troll@spam.test');
    const sent = await sendJson(running.service, { to: 'troll@spam.test', subject: 'x', text_body: 'x' });
    await receive(running.service, mail({ inReplyTo: sent.messageId, from: 'troll@spam.test' }));
    expect(await statusOf(sent.threadId)).toBe('open');
    const messageId = newId();
    const ours = await receive(running.service, mail({ messageId, from: 'eve@person.test' }));
    await receive(running.service, mail({ inReplyTo: messageId, from: 'troll@spam.test' }));
    expect(await statusOf(ours.threadId)).toBe('open');
    await unblock(id);
  });
});

it('a rule for what machines write does not close the question of a person', async () => {
  const [, rule] = await ask('/api/rules', {
    json: {
      name: 'Machines',
      account_ids: '*',
      conditions: [{ written_by: 'machine' }],
      actions: { status: 'done' },
    },
  });
  const messageId = newId();
  const { threadId } = await receive(running.service, mail({ messageId, from: 'ask@person.test' }));
  const ticket = mail({
    inReplyTo: messageId,
    from: 'tickets@person.test',
    headers: ['Auto-Submitted: auto-generated'],
  });
  const { id } = await receive(running.service, ticket);
  expect(await statusOf(threadId)).toBe('open');
  expect(await skippedOf(id)).toEqual([['status']]);
  await ask(`/api/rules/${rule['id'] as string}`, { method: 'DELETE' });
});

it('a rule for spam does not take along what a person wrote in the thread', async () => {
  const [, rule] = await ask('/api/rules', {
    json: {
      name: 'Marked',
      account_ids: '*',
      conditions: [{ header: { name: 'X-Spam-Flag', equals: 'yes' } }],
      actions: { status: 'spam' },
    },
  });
  const messageId = newId();
  const { threadId } = await receive(running.service, mail({ messageId, from: 'ada@person.test' }));
  const marked = mail({ inReplyTo: messageId, from: 'ada@person.test', headers: ['X-Spam-Flag: YES'] });
  await receive(running.service, marked);
  expect(await statusOf(threadId)).toBe('open');
  await ask(`/api/rules/${rule['id'] as string}`, { method: 'DELETE' });
});

it('a rule that assigns to a revoked key can be switched off', async () => {
  const [, made] = await ask('/api/keys', {
    json: { name: 'Leaver', rights: ['read', 'send'], account_ids: '*' },
  });
  const { id: assignee } = made['key'] as { id: string };
  const [, { id }] = await ask('/api/rules', {
    json: { name: 'Hers', account_ids: '*', conditions: [{ subject: 'x' }], actions: { assignee } },
  });
  expect((await ask(`/api/keys/${assignee}`, { method: 'DELETE' }))[0]).toBe(200);
  const change = (json: Json) => ask(`/api/rules/${id as string}`, { method: 'PATCH', json });
  expect(await change({ active: false, name: 'Nobody\u2019s' })).toEqual([
    200,
    expect.objectContaining({ active: false }),
  ]);
  await ask(`/api/rules/${id as string}`, { method: 'DELETE' });
});

it('a rule takes for spam what the mail server marked, but no customer', async () => {
  const customer = randomUUID();
  await ask(`/api/customer/${customer}/addresses`, { json: { address: 'good@known.test' } });
  const [, rule] = await ask('/api/rules', {
    json: {
      name: 'Marked',
      account_ids: '*',
      conditions: [{ header: { name: 'X-Spam-Flag', equals: 'yes' } }],
      actions: { status: 'spam' },
    },
  });
  const headers = ['X-Spam-Flag: YES'];
  const spam = await receive(running.service, mail({ headers, from: 'bad@unknown.test' }));
  const known = await receive(running.service, mail({ headers, from: 'good@known.test' }));
  expect([await statusOf(spam.threadId), await statusOf(known.threadId)]).toEqual(['spam', 'open']);
  await ask(`/api/rules/${String(rule['id'])}`, { method: 'DELETE' });
});
