/** The fields that a send adds to its message and records with its email, and where they come back. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { receive } from '../helpers/inbound-mail.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { readWithPython, skipWithoutPython } from '../helpers/python-mail.ts';
import { getJson, sendJson, startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const MAIL = { to: 'ada@example.org', subject: 'Angebot', text_body: 'Guten Tag' };
const ADDED = {
  reply_to: ['Büro <buero@example.com>', 'zwei@example.com, drei@example.com'],
  from_name: 'Jörg "Vertrieb"',
  headers: {
    Importance: 'high',
    'X-Ticket': `T-${'4'.repeat(200)}`,
    'X-Greeting': 'Schöne  Grüße',
    Organization: 'Müller & Söhne',
    'List-Unsubscribe': `<https://example.com/u/${'x'.repeat(150)}>, <mailto:u@example.com>`,
  },
  tags: ['angebot', 'März-2026', 'angebot'],
  metadata: { order: 17, nested: { a: [1, 2.5, 'é', null] }, big: 1e21 },
};

type Json = Record<string, unknown>;
const detail = (id: string) => getJson<Json>(running.service, `/api/emails/${id}`);
const list = (query: string) =>
  getJson<{ emails: Json[]; next_cursor: string | null }>(running.service, `/api/emails?${query}`);

async function refusal(fields: Json): Promise<unknown> {
  const response = await running.service.request('/api/send', { json: { ...MAIL, ...fields } });
  return [response.status, ((await response.json()) as Json)['code']];
}

it('writes them into the message as mail programs read them', async () => {
  const { messageId } = await sendJson(running.service, { ...MAIL, ...ADDED });
  const [message] = running.sink.byMessageId(messageId);
  const parsed = await simpleParser(message!.raw);
  expect(parsed.from?.value).toEqual([{ name: 'Jörg "Vertrieb"', address: 'sales@example.com' }]);
  expect(message!.mailFrom).toBe('sales@example.com');
  expect(parsed.replyTo?.value).toEqual([
    { name: 'Büro', address: 'buero@example.com' },
    { name: '', address: 'zwei@example.com' },
    { name: '', address: 'drei@example.com' },
  ]);
  // mailparser merges Importance, Priority and X-Priority into one value.
  expect(parsed.headers.get('priority')).toBe('high');
  const text = message!.raw.toString('latin1');
  expect(text).toContain(`<https://example.com/u/${'x'.repeat(150)}>`);
  for (const line of text.split('\r\n')) expect(line.length).toBeLessThan(999);
  for (const note of ['2026', 'nested', 'order']) expect(text.replace(/^Date:.*$/m, '')).not.toContain(note);
});

it.skipIf(skipWithoutPython())('writes header fields that every program decodes', async () => {
  const { messageId } = await sendJson(running.service, { ...MAIL, ...ADDED });
  const { headers, defects } = readWithPython(running.sink.byMessageId(messageId)[0]!.raw);
  expect(defects).toEqual([]);
  expect(headers).toMatchObject(
    Object.fromEntries(Object.entries(ADDED.headers).map(([name, value]) => [name.toLowerCase(), value])),
  );
});

it('gives them back in the email, in lists and in events', async () => {
  const start = (await getJson<{ id: string }>(running.service, '/api/events/latest')).id;
  const sent = await sendJson(running.service, { ...MAIL, ...ADDED });
  const notes = { tags: ['angebot', 'März-2026'], metadata: ADDED.metadata };
  expect(await detail(sent.id)).toMatchObject({
    from_address: { name: 'Jörg "Vertrieb"', address: 'sales@example.com' },
    reply_to_addresses: [
      { name: 'Büro', address: 'buero@example.com' },
      { name: '', address: 'zwei@example.com' },
      { name: '', address: 'drei@example.com' },
    ],
    headers: ADDED.headers,
    ...notes,
  });
  const { emails } = await list('limit=1');
  expect(emails).toMatchObject([{ id: sent.id, ...notes }]);
  const thread = await getJson<{ emails: Json[] }>(running.service, `/api/threads/${sent.threadId}`);
  expect(thread.emails).toMatchObject([{ id: sent.id, ...notes }]);

  await receive(
    running.service,
    deliveryReport(sent.messageId, [{ address: 'ada@example.org', action: 'failed', status: '5.1.1' }]),
  );
  const seen = new Map<string, Json>();
  for (let tries = 0, next = start; !seen.has('email.bounced') && tries < 20; tries += 1) {
    const page = await getJson<{ events: Json[]; next: string }>(
      running.service,
      `/api/events?after=${next}&wait=2`,
    );
    for (const event of page.events.filter(({ email_id }) => email_id === sent.id))
      seen.set(String(event['type']), event['data'] as Json);
    next = page.next;
  }
  expect(seen.get('email.sent')).toMatchObject({ state: 'sent', email: { id: sent.id }, ...notes });
  expect(seen.get('email.bounced')).toMatchObject({ address: 'ada@example.org', ...notes });
  await running.service.request('/api/suppressions/ada@example.org', { method: 'DELETE' });
});

it('shows an email without any as having none, and the four answers of the specification as before', async () => {
  const sent = await sendJson(running.service, MAIL);
  expect(await detail(sent.id)).toMatchObject({
    reply_to_addresses: [],
    headers: {},
    tags: [],
    metadata: {},
  });
  const withThem = await sendJson(running.service, { ...MAIL, ...ADDED, thread_id: sent.threadId });
  const { emails } = await getJson<{ emails: Json[] }>(running.service, `/api/thread/${sent.threadId}`);
  const [first, second] = emails;
  expect(second!['id']).toBe(withThem.id);
  expect(Object.keys(second!)).toEqual(Object.keys(first!));
});

it('keeps them through the queue', async () => {
  const start = (await getJson<{ id: string }>(running.service, '/api/events/latest')).id;
  const response = await running.service.request('/api/send', {
    json: { ...MAIL, ...ADDED, send_at: new Date(Date.now() + 3_600_000).toISOString() },
  });
  const { id } = (await response.json()) as { id: string };
  expect(await detail(id)).toMatchObject({
    state: 'queued',
    headers: ADDED.headers,
    metadata: ADDED.metadata,
  });
  // An event of each change contains them too.
  const changed = await running.service.request(`/api/emails/${id}`, {
    method: 'PATCH',
    json: { subject: 'Neues Angebot' },
    headers: { 'if-match': '"1"' },
  });
  expect(changed.status).toBe(200);
  const cancelled = await running.service.request(`/api/emails/${id}/cancel`, { method: 'POST' });
  expect(cancelled.status).toBe(200);
  const seen = new Map<string, unknown>();
  for (let next = start; !seen.has('email.cancelled');) {
    const page = await getJson<{ events: Json[]; next: string }>(
      running.service,
      `/api/events?after=${next}&wait=5`,
    );
    for (const { email_id, type, data } of page.events)
      if (email_id === id) seen.set(String(type), (data as Json)['metadata']);
    next = page.next;
  }
  expect(Object.fromEntries(seen)).toEqual({
    'email.queued': ADDED.metadata,
    'email.updated': ADDED.metadata,
    'email.cancelled': ADDED.metadata,
  });
});

describe('the list by tag', () => {
  it('has the emails with the tag, newest first, page by page, with the other filters', async () => {
    const ids = [];
    for (let index = 0; index < 5; index += 1) {
      const { id } = await sendJson(running.service, {
        ...MAIL,
        tags: ['liste', index % 2 ? 'odd' : 'even'],
      });
      ids.unshift(id);
    }
    const all: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`tag=liste&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      all.push(...page.emails.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect([...all].sort()).toEqual([...ids].sort());
    const idsOf = async (query: string) => (await list(query)).emails.map(({ id }) => id);
    expect(await idsOf('tag=odd&state=sent&account_id=default')).toHaveLength(2);
    expect(await idsOf('tag=liste&state=failed')).toEqual([]);
    await waitUntil('all are found', async () => (await idsOf('tag=liste&q=angebot')).length === 5);
    expect(await idsOf('tag=Liste')).toEqual([]);
  });

  it('finds a tag in whatever form its letters are written', async () => {
    const { id } = await sendJson(running.service, { ...MAIL, tags: ['Käufer'.normalize('NFD')] });
    const { emails } = await list(`tag=${encodeURIComponent('Käufer')}`);
    expect(emails.map((email) => email['id'])).toEqual([id]);
    expect(emails[0]!['tags']).toEqual(['Käufer']);
  });

  it('refuses what is no tag', async () => {
    const response = await running.service.request('/api/emails?tag=zwei%20W');
    expect([response.status, ((await response.json()) as Json)['code']]).toEqual([400, 'invalid_tag']);
  });
});

it.each([
  ['a header of the service', { headers: { Received: 'x' } }, 'header_not_allowed'],
  ['one in other letters', { headers: { BCC: 'x@example.com' } }, 'header_not_allowed'],
  ['a name that is none', { headers: { 'X-A: b\r\nBcc': 'x' } }, 'header_not_allowed'],
  ['a name that relays use', { headers: { 'X-Google-Original-Message-ID': '<a@b>' } }, 'header_not_allowed'],
  ['a line end in a value', { headers: { 'X-A': 'a\r\nBcc: x@example.com' } }, 'header_injection'],
  [
    'a line end in a structured one',
    { headers: { Importance: 'high\nBcc: x@example.com' } },
    'header_injection',
  ],
  ['letters in a structured one', { headers: { Importance: 'hö' } }, 'invalid_text'],
  ['a name twice', { headers: { 'X-A': 'a', 'x-a': 'b' } }, 'duplicate_field'],
  ['an empty value', { headers: { 'X-A': ' ' } }, 'invalid_request'],
  ['a number as a value', { headers: { 'X-A': 1 } }, 'invalid_request'],
  ['a list as headers', { headers: [] }, 'invalid_request'],
  ['a long value', { headers: { 'X-A': 'x'.repeat(901) } }, 'invalid_request'],
  [
    'too many headers',
    { headers: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`X-${i}`, 'a'])) },
    'invalid_request',
  ],
  ['a line end in the name', { from_name: 'A\r\nBcc: x@example.com' }, 'header_injection'],
  ['half a letter in the name', { from_name: 'A\ud800' }, 'invalid_text'],
  ['a long name', { from_name: 'x'.repeat(201) }, 'invalid_request'],
  ['a bad Reply-To', { reply_to: 'nobody' }, 'invalid_address'],
  [
    'too many of them',
    { reply_to: Array.from({ length: 21 }, (_, i) => `a${i}@example.com`) },
    'invalid_request',
  ],
  ['a tag with a space', { tags: ['a b'] }, 'invalid_tag'],
  ['an empty tag', { tags: [''] }, 'invalid_tag'],
  ['a long tag', { tags: ['x'.repeat(65)] }, 'invalid_tag'],
  ['too many tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'invalid_request'],
  ['a tag that is no text', { tags: [1] }, 'invalid_request'],
  ['metadata that is a list', { metadata: [] }, 'invalid_request'],
  ['large metadata', { metadata: { a: 'x'.repeat(4096) } }, 'metadata_too_large'],
  [
    'metadata that was taken for a file',
    { metadata: { content: 'QUJD'.repeat(50_000) } },
    'metadata_too_large',
  ],
  ['metadata that no database holds', { metadata: { a: '\u0000' } }, 'invalid_text'],
  ['half a letter in metadata', { metadata: { a: '\udfff' } }, 'invalid_text'],
])('refuses %s, and sends nothing', async (_, fields, code) => {
  const before = running.sink.messages.length;
  expect(await refusal(fields)).toEqual([400, code]);
  expect(running.sink.messages).toHaveLength(before);
});

it('counts them in what an Idempotency-Key stands for, but not the order of keys', async () => {
  const request = (key: string, fields: Json) =>
    running.service.request('/api/send', {
      json: { ...MAIL, ...fields },
      headers: { 'idempotency-key': key },
    });
  const notes = { metadata: { a: 1, b: { c: 2, d: 3 } }, headers: { 'X-A': 'a', 'X-B': 'b' } };
  const same = { metadata: { b: { d: 3, c: 2 }, a: 1 }, headers: { 'X-B': 'b', 'X-A': 'a' } };
  const first = await request('fields-1', notes);
  const again = await request('fields-1', same);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(await again.json()).toEqual(await first.json());
  for (const changed of [
    { ...notes, tags: ['x'] },
    { ...notes, metadata: { a: 2 } },
    { ...notes, headers: { 'X-A': 'b' } },
    { ...notes, from_name: 'X' },
    { ...notes, reply_to: 'x@example.com' },
  ]) {
    expect((await request('fields-1', changed)).status).toBe(409);
  }
});
