/** A key is the author of everything it sends and does: emails and events name it, even after it is revoked. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithSink, type SentResult } from '../helpers/running-service.ts';

interface Author {
  readonly id: string;
  readonly name: string;
}
interface EventJson {
  readonly type: string;
  readonly email_id: string | null;
  readonly thread_id: string | null;
  readonly author: Author | null;
}
interface Key extends Author {
  readonly secret: string;
}

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let crm: Key;
let shop: Key;
beforeAll(async () => {
  running = await startServiceWithSink();
  crm = await makeKey('CRM');
  shop = await makeKey('Shop');
});
afterAll(() => running.end());

async function makeKey(name: string): Promise<Key> {
  const rights = ['read', 'draft', 'send', 'operate'];
  const made = await ask<{ key: Author; secret: string }>(null, '/api/keys', {
    json: { name, rights, account_ids: '*' },
  });
  return { id: made.key.id, name, secret: made.secret };
}

async function ask<T>(
  key: Key | null,
  path: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<T> {
  const headers = { ...init.headers, ...(key === null ? {} : { authorization: `Bearer ${key.secret}` }) };
  const response = await running.service.request(path, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

const SEND = { to: 'ann@customer.test', subject: 'Offer', text_body: 'Hello' };
const send = (key: Key | null, fields: object = {}) =>
  ask<SentResult>(key, '/api/send', { json: { ...SEND, ...fields } });
/** Not sent while the test runs. */
const later = () => ({ send_at: new Date(Date.now() + 86_400_000).toISOString() });
const authorOf = async (id: string) =>
  (await getJson<{ author: Author | null }>(running.service, `/api/emails/${id}`)).author;
const told = ({ id, name }: Key) => ({ id, name });

/** All events from a position up to now, and the position after them. */
async function readUpToNow(from: string): Promise<{ events: readonly EventJson[]; next: string }> {
  // Events written before the marker come before it in the feed.
  const marker = await send(null, { subject: 'marker', ...later() });
  const events: EventJson[] = [];
  let next = from;
  while (!events.some(({ email_id: email, type }) => email === marker.id && type === 'email.queued')) {
    const page = await getJson<{ events: readonly EventJson[]; next: string }>(
      running.service,
      `/api/events?after=${next}&wait=5`,
    );
    events.push(...page.events);
    next = page.next;
  }
  return { events: events.filter(({ thread_id: thread }) => thread !== marker.threadId), next };
}

/** The events of the time while `work` ran. */
async function eventsOf(work: () => Promise<unknown>): Promise<readonly EventJson[]> {
  const { id } = await getJson<{ id: string }>(running.service, '/api/events/latest');
  const { next } = await readUpToNow(id);
  await work();
  return (await readUpToNow(next)).events;
}

const authorsOf = (events: readonly EventJson[], type: string) =>
  events.filter((event) => event.type === type).map(({ author }) => author);

describe('an email', () => {
  it('names the key that sent it, in its record, its thread and its events', async () => {
    let sent: SentResult | null = null;
    const events = await eventsOf(async () => (sent = await send(crm)));
    const { id, threadId } = sent!;
    expect(await authorOf(id)).toEqual(told(crm));
    const page = await getJson<{ emails: readonly { author: Author | null }[] }>(
      running.service,
      `/api/threads/${threadId}`,
    );
    expect(page.emails.map(({ author }) => author)).toEqual([told(crm)]);
    const { emails } = await getJson<{ emails: readonly { id: string; author: Author | null }[] }>(
      running.service,
      '/api/emails?limit=200',
    );
    expect(emails.find((email) => email.id === id)?.author).toEqual(told(crm));
    expect(authorsOf(events, 'thread.created')).toEqual([told(crm)]);
    expect(authorsOf(events, 'email.sent')).toEqual([told(crm)]);
  });

  it('names no author when the secret of the configuration sent it, or another person wrote it', async () => {
    const sent = await send(null);
    expect(await authorOf(sent.id)).toBeNull();
    const received = await receive(running.service, mail({ subject: 'Hi', from: 'ann@customer.test' }));
    expect(await authorOf(received.id)).toBeNull();
  });

  it('names the key through the queue, replies and drafts', async () => {
    const first = await send(null);
    const reply = await ask<SentResult>(crm, `/api/emails/${first.id}/reply`, {
      json: { text_body: 'And this' },
    });
    expect(await authorOf(reply.id)).toEqual(told(crm));
    const draft = await ask<{ id: string; version: number }>(shop, '/api/drafts', {
      json: { message: SEND },
    });
    const fromDraft = await ask<SentResult>(crm, `/api/drafts/${draft.id}/send`, { json: {} });
    expect(await authorOf(fromDraft.id)).toEqual(told(crm));
    const headers = { prefer: 'respond-async' };
    let queued: SentResult | null = null;
    const events = await eventsOf(async () => {
      queued = await ask<SentResult>(shop, '/api/send', { json: SEND, headers });
    });
    expect(authorsOf(events, 'email.queued')).toEqual([told(shop)]);
    // Its further events must not arrive in the middle of another test.
    const { id } = queued!;
    const stateOf = async () =>
      (await getJson<{ state: string }>(running.service, `/api/emails/${id}`)).state;
    await expect.poll(stateOf).toBe('sent');
  });

  it('is the same for a repeat with another key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const once = (key: Key) => ask<SentResult>(key, '/api/send', { json: SEND, headers });
    const { id } = await once(crm);
    expect((await once(shop)).id).toBe(id);
    expect(await authorOf(id)).toEqual(told(crm));
  });

  it('names the key after its end', async () => {
    const gone = await makeKey('Former');
    const { id } = await send(gone);
    await ask(null, `/api/keys/${gone.id}`, { method: 'DELETE' });
    expect(await authorOf(id)).toEqual(told(gone));
  });
});

describe('a draft', () => {
  interface DraftJson {
    readonly id: string;
    readonly version: number;
    readonly author: string | null;
    readonly created_by: Author | null;
  }
  const make = (key: Key | null, fields: object = {}) =>
    ask<DraftJson>(key, '/api/drafts', { json: { message: SEND, ...fields } });
  const change = (key: Key | null, { id, version }: DraftJson) =>
    ask<DraftJson>(key, `/api/drafts/${id}`, {
      method: 'PATCH',
      json: { message: { subject: 'Changed' } },
      headers: { 'if-match': `"${version}"` },
    });

  it('names the key that made it, whichever key changes it, beside the author that a caller names', async () => {
    const draft = await make(crm, { author: 'eva' });
    expect(draft).toMatchObject({ author: 'eva', created_by: told(crm) });
    const changed = await change(shop, draft);
    expect(changed).toMatchObject({ author: 'eva', created_by: told(crm), version: 2 });
    expect(await change(null, changed)).toMatchObject({ created_by: told(crm) });
    const { drafts } = await getJson<{ drafts: readonly DraftJson[] }>(running.service, '/api/drafts');
    expect(drafts.find(({ id }) => id === draft.id)).toMatchObject({ author: 'eva', created_by: told(crm) });
    expect((await make(null)).created_by).toBeNull();
  });

  it('has events that name the key that did it', async () => {
    const events = await eventsOf(async () => {
      const draft = await change(shop, await make(crm));
      await ask(crm, `/api/drafts/${draft.id}/send`, { json: {} });
      const thrown = await change(null, await make(null));
      await ask(shop, `/api/drafts/${thrown.id}`, { method: 'DELETE' });
    });
    expect(authorsOf(events, 'draft.created')).toEqual([told(crm), null]);
    expect(authorsOf(events, 'draft.changed')).toEqual([told(shop), null]);
    expect(authorsOf(events, 'draft.sent')).toEqual([told(crm)]);
    expect(authorsOf(events, 'draft.deleted')).toEqual([told(shop)]);
  });

  it('keeps the name of a key that is revoked', async () => {
    const gone = await makeKey('Gone');
    const { id } = await make(gone);
    await ask(null, `/api/keys/${gone.id}`, { method: 'DELETE' });
    expect(await getJson<DraftJson>(running.service, `/api/drafts/${id}`)).toMatchObject({
      created_by: told(gone),
    });
  });
});

describe('an event', () => {
  it('names the key that acted, and not the one that sent the email', async () => {
    const sent = await send(shop, later());
    const events = await eventsOf(() => ask(crm, `/api/emails/${sent.id}/cancel`, { method: 'POST' }));
    expect(authorsOf(events, 'email.cancelled')).toEqual([told(crm)]);
    expect(await authorOf(sent.id)).toEqual(told(shop));
  });

  it('names the key that changed a thread, an address or a customer', async () => {
    const first = await send(null, { to: 'bea@customer.test' });
    const answered = await send(null, { to: 'bea@customer.test', thread_id: first.threadId });
    const other = await send(null, { to: 'bea@customer.test' });
    const received = await receive(running.service, mail({ from: 'bea@customer.test' }));
    const post = (path: string, json: object) => ask(crm, path, { json });
    const events = await eventsOf(async () => {
      await ask(crm, `/api/threads/${first.threadId}`, { method: 'PATCH', json: { status: 'done' } });
      await post(`/api/thread/${first.threadId}/split`, { email_ids: [answered.id] });
      await post(`/api/thread/${first.threadId}/merge`, { thread_id: other.threadId });
      await ask(crm, `/api/thread/${received.threadId}/read`, { method: 'POST' });
      await ask(crm, '/api/suppressions/bad@customer.test', { method: 'PUT', json: {} });
      await ask(crm, '/api/suppressions/bad@customer.test', { method: 'DELETE' });
      await ask(crm, `/api/customer/${randomUUID()}/addresses`, {
        method: 'PUT',
        json: { addresses: ['bea@customer.test'], domains: [] },
      });
    });
    const types = new Set(events.map(({ type }) => type));
    for (const type of [
      'thread.updated',
      'thread.split',
      'thread.merged',
      'email.updated',
      'suppression.added',
      'suppression.lifted',
      'customer.linked',
    ]) {
      expect(types).toContain(type);
    }
    expect(events.filter(({ author }) => author?.id !== crm.id)).toEqual([]);
  });

  it('names no author for what the secret did', async () => {
    const events = await eventsOf(() =>
      ask(null, '/api/suppressions/worse@customer.test', { method: 'PUT', json: {} }),
    );
    expect(authorsOf(events, 'suppression.added')).toEqual([null]);
  });
});
