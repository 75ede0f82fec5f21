/** The feed of events from outside: the service's acts in order, page by page, by waiting, and as a stream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, sendJson, startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET } from '../helpers/service-process.ts';

interface EventJson {
  readonly id: string;
  readonly type: string;
  readonly occurred_at: string;
  readonly account_id: string | null;
  readonly email_id: string | null;
  readonly thread_id: string | null;
  readonly customer_id: string | null;
  readonly historical: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}
interface PageJson {
  readonly events: readonly EventJson[];
  readonly next: string;
}

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const read = (search: string) => getJson<PageJson>(running.service, `/api/events?${search}`);
const latest = async () => (await getJson<{ id: string }>(running.service, '/api/events/latest')).id;
/** Waits for as many events as a test expects, or for one of a type. */
async function readSome(after: string, until: number | string): Promise<readonly EventJson[]> {
  const events: EventJson[] = [];
  let next = after;
  const isDone = () =>
    typeof until === 'number' ? events.length >= until : events.some(({ type }) => type === until);
  for (let tries = 0; !isDone() && tries < 20; tries += 1) {
    const page = await read(`after=${next}&wait=2`);
    events.push(...page.events);
    next = page.next;
  }
  return events;
}
const SEND = { to: 'customer@example.org', subject: 'Offer', text_body: 'Hello' };

describe('the feed', () => {
  it('tells of a send, its answer, and that the answer was read', async () => {
    const start = await latest();
    const customerId = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
    const sent = await sendJson(running.service, { ...SEND, customer_id: customerId });
    const answer = await receive(
      running.service,
      mail({ from: 'customer@example.org', inReplyTo: sent.messageId }),
    );
    expect(
      (await running.service.request(`/api/thread/${sent.threadId}/read`, { method: 'POST' })).status,
    ).toBe(200);

    const events = await readSome(start, 5);
    expect(
      events.map(({ type, email_id, thread_id, customer_id }) => [type, email_id, thread_id, customer_id]),
    ).toEqual([
      ['thread.created', null, sent.threadId, customerId],
      ['email.sent', sent.id, sent.threadId, customerId],
      // A program's send begins a thread that is done; the answer opens it.
      ['thread.updated', null, sent.threadId, customerId],
      ['email.received', answer.id, sent.threadId, customerId],
      ['email.updated', answer.id, sent.threadId, customerId],
    ]);
    expect(events[1]?.data).toMatchObject({
      state: 'sent',
      email: {
        id: sent.id,
        message_id: sent.messageId,
        direction: 'outbound',
        subject: 'Offer',
        to_addresses: [{ name: '', address: 'customer@example.org' }],
      },
    });
    expect(events[4]?.data).toEqual({ changes: ['unread'], unread: false });
    expect(events.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id));
    expect(events.every(({ historical }) => !historical)).toBe(true);
  });

  it('tells of a send through the queue until it is sent, and of one that is cancelled', async () => {
    const start = await latest();
    const queued = await running.service.request('/api/send', {
      json: SEND,
      headers: { prefer: 'respond-async' },
    });
    expect(queued.status).toBe(202);
    expect((await readSome(start, 3)).map(({ type }) => type)).toEqual([
      'thread.created',
      'email.queued',
      'email.sent',
    ]);

    const later = await latest();
    const scheduled = await running.service.request('/api/send', {
      json: { ...SEND, send_at: new Date(Date.now() + 3_600_000).toISOString() },
    });
    const { id } = (await scheduled.json()) as { id: string };
    await running.service.request(`/api/emails/${id}/cancel`, { method: 'POST' });
    const events = await readSome(later, 3);
    expect(events.map(({ type }) => type)).toEqual(['thread.created', 'email.queued', 'email.cancelled']);
    expect(events[2]?.data).toMatchObject({ state: 'cancelled', previous_state: 'queued' });
  });

  it('tells of merges, splits, suppressions and links', async () => {
    const start = await latest();
    const [one, other] = [await sendJson(running.service, SEND), await sendJson(running.service, SEND)];
    await running.service.request(`/api/thread/${one.threadId}/merge`, {
      json: { thread_id: other.threadId },
    });
    await running.service.request(`/api/thread/${one.threadId}/split`, { json: { email_ids: [other.id] } });
    await running.service.request('/api/suppressions/gone@example.org', { method: 'PUT' });
    await running.service.request('/api/suppressions/gone@example.org', { method: 'DELETE' });
    const events = await readSome(start, 'suppression.lifted');
    const types = events.map(({ type }) => type);
    for (const type of ['thread.merged', 'thread.split', 'suppression.added', 'suppression.lifted']) {
      expect(types).toContain(type);
    }
    // The email moved to the other thread, and from there to the new one.
    expect(
      events.filter(({ type, email_id }) => type === 'email.updated' && email_id !== null).length,
    ).toBeGreaterThan(1);
  });

  it('leaves out what the filters leave out, and moves on over it', async () => {
    const start = await latest();
    await sendJson(running.service, SEND);
    const end = (await readSome(start, 2)).at(-1)?.id;
    expect(await read(`after=${start}&type=email.bounced`)).toEqual({ events: [], next: end });
    expect((await read(`after=${start}&type=email.sent&type=email.received`)).events).toHaveLength(1);
    const one = await read(`after=${start}&limit=1`);
    expect(one).toMatchObject({ events: [{ type: 'thread.created' }], next: one.events[0]?.id });
  });

  it.each([
    ['after=1', 400, 'invalid_request'],
    ['after=ffffffffffffffff', 400, 'invalid_request'],
    ['type=email.lost', 400, 'invalid_request'],
    ['account_id=nobody', 400, 'unknown_account'],
    ['since=yesterday', 400, 'unknown_parameter'],
  ])('refuses ?%s', async (search, status, code) => {
    const response = await running.service.request(`/api/events?${search}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  });

  it('says where to go on when old events are forgotten', async () => {
    const start = await latest();
    await query(running.database.connectionString, 'update event_clock set forgotten = position + 5');
    const response = await running.service.request(`/api/events?after=${start}`);
    expect(response.status).toBe(410);
    const body = (await response.json()) as { code: string; details: string };
    expect(body.code).toBe('events_expired');
    expect((await running.service.request(`/api/events?after=${body.details}`)).status).toBe(200);
    await query(running.database.connectionString, 'update event_clock set forgotten = 0');
  });
});

describe('as a stream', () => {
  /** Reads blocks until `isEnd` is true for one. */
  async function readStream(
    headers: Readonly<Record<string, string>>,
    isEnd: (events: readonly string[]) => boolean,
    search = '',
  ): Promise<string> {
    const stop = new AbortController();
    const response = await fetch(`${running.service.url}/api/events${search}`, {
      headers: { authorization: `Bearer ${TEST_SECRET}`, accept: 'text/event-stream', ...headers },
      signal: stop.signal,
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (isEnd([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1] ?? ''))) break;
    }
    stop.abort();
    return text;
  }

  it('sends events as they come, and goes on behind the last one', async () => {
    const start = await latest();
    const first = readStream({ 'last-event-id': start }, (events) => events.includes('email.sent'));
    await sendJson(running.service, SEND);
    const text = await first;
    expect([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual([
      'thread.created',
      'email.sent',
    ]);
    const ids = [...text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '');
    const again = await readStream({ 'last-event-id': ids.at(-2) ?? '' }, (events) => events.length > 0);
    expect(again).toContain('event: email.sent');
    expect(again).not.toContain('thread.created');
  });

  it('ends when the service stops, and the stop does not wait for it', { tags: ['long'] }, async () => {
    const other = await startServiceWithSink();
    const response = await fetch(`${other.service.url}/api/events`, {
      headers: { authorization: `Bearer ${TEST_SECRET}`, accept: 'text/event-stream' },
    });
    const text = response.text();
    expect(await other.service.stop()).toBe(0);
    expect(await text).toContain('retry: 1000');
    await other.end();
  });
});
