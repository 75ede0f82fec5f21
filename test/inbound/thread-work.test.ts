/** What people set on a thread: its status, assignee, labels and customer, and the effects of these. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backgroundWorkIsDone } from '../helpers/background-work.ts';
import { mail, newId, receive, type Received } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, makeClerk, sendJson, startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let ada: string;
let zoe: string;
beforeAll(async () => {
  running = await startServiceWithSink();
  ({ id: ada } = await makeClerk(running.service, 'Ada'));
  ({ id: zoe } = await makeClerk(running.service, 'Zoe'));
});
afterAll(() => running.end());

const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
const OTHER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e35';
const COMPANY = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e36';

interface RecordJson {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly customer_id: string | null;
  readonly customer_source: string | null;
  readonly company_id: string | null;
}
interface EmailJson {
  readonly id: string;
  readonly customer_id: string | null;
  readonly text_body: string;
}
interface PageJson {
  readonly thread: RecordJson;
  readonly emails: readonly EmailJson[];
  readonly next_cursor: string | null;
}

const page = (threadId: string, search = '') =>
  getJson<PageJson>(running.service, `/api/threads/${threadId}${search}`);
const recordOf = async (threadId: string) => (await page(threadId)).thread;

async function tryChange(threadId: string, json: object, headers: Record<string, string> = {}) {
  const response = await running.service.request(`/api/threads/${threadId}`, {
    method: 'PATCH',
    json,
    headers,
  });
  return { status: response.status, body: (await response.json()) as RecordJson & { code?: string } };
}
async function change(threadId: string, json: object): Promise<RecordJson> {
  const { status, body } = await tryChange(threadId, json);
  expect(status).toBe(200);
  return body;
}
async function listed(search: string): Promise<readonly string[]> {
  const { threads } = await getJson<{ threads: { id: string }[] }>(running.service, `/api/threads?${search}`);
  return threads.map(({ id }) => id);
}
const answerTo = (email: Received, fields: Parameters<typeof mail>[0] = {}) =>
  receive(running.service, mail({ inReplyTo: email.messageId, ...fields }));
const act = async (threadId: string, verb: string, json: object) => {
  const response = await running.service.request(`/api/thread/${threadId}/${verb}`, { json });
  expect(response.status).toBe(200);
  return (await response.json()) as { thread_id: string };
};

/** The thread's events for changes of it, once all are numbered. */
async function changesOf(threadId: string): Promise<readonly Record<string, unknown>[]> {
  const url = running.database.connectionString;
  await backgroundWorkIsDone(url);
  const rows = await query(
    url,
    `select data::json as data from events where thread_id = $1 and type = 'thread.updated' order by position`,
    [threadId],
  );
  return rows.map(({ data }) => data as Record<string, unknown>);
}

describe('the page of a thread', () => {
  it('has its record and its emails with all that is shown of them', async () => {
    const sent = await sendJson(running.service, {
      to: 'ada@page.test',
      cc: 'bob@page.test',
      bcc: 'eve@page.test',
      subject: 'Offer',
      html_body: '<p>Hello</p>',
      customer_id: CUSTOMER,
      attachments: [{ filename: 'a.txt', content: 'SGFsbG8=', content_type: 'text/plain' }],
    });
    const answer = await receive(
      running.service,
      mail({
        from: 'Ada <ada@page.test>',
        inReplyTo: sent.messageId,
        headers: ['Reply-To: office@page.test', 'Cc: carl@page.test'],
        body: 'Yes.\r\n\r\nOn 4 May 2026 at 10:00, Sales <sales@page.test> wrote:\r\n> Hello',
        subject: 'Re: Offer',
        date: new Date(Date.now() + 60_000).toUTCString(),
      }),
    );
    const { thread, emails, next_cursor } = await page(sent.threadId);
    expect(next_cursor).toBeNull();
    expect(thread).toMatchObject({
      id: sent.threadId,
      account_id: 'default',
      subject: 'Offer',
      customer_id: CUSTOMER,
      customer_source: 'explicit',
      company_id: null,
      company_source: null,
      email_count: 2,
      unread_count: 1,
      unanswered: true,
      has_attachments: true,
      status: 'open',
      assignee: null,
      labels: [],
    });
    const byId = new Map(emails.map((email) => [email.id, email]));
    expect(byId.get(sent.id)).toMatchObject({
      direction: 'outbound',
      message_id: sent.messageId,
      to_addresses: [{ name: '', address: 'ada@page.test' }],
      cc_addresses: [{ name: '', address: 'bob@page.test' }],
      bcc_addresses: [{ name: '', address: 'eve@page.test' }],
      state: 'sent',
      recipients: ['ada', 'bob', 'eve'].map((name) => ({
        address: `${name}@page.test`,
        state: 'accepted',
        reply: { code: 250 },
        report: null,
      })),
      snippet: 'Hello',
      has_html: true,
      html_body: null,
      truncated: false,
      email_attachments: [{ filename: 'a.txt', size_bytes: 5 }],
      placement_rule: 'new',
      unread: false,
    });
    expect(byId.get(answer.id)).toMatchObject({
      direction: 'inbound',
      cc_addresses: [{ name: '', address: 'carl@page.test' }],
      reply_to_addresses: [{ name: '', address: 'office@page.test' }],
      reply_text: 'Yes.',
      snippet: 'Yes.',
      state: 'received',
      placement_rule: 'in_reply_to',
      automatic: null,
      new_participant: false,
      unread: true,
      customer_id: CUSTOMER,
    });
    const withHtml = await page(sent.threadId, '?html=true');
    expect(withHtml.emails.find(({ id }) => id === sent.id)).toMatchObject({ html_body: '<p>Hello</p>' });
  });

  it('gives a long thread from its end, each email once, and follows an alias', async () => {
    const messageIds = [newId()];
    const minute = (index: number) => `Sun, 01 Mar 2026 12:${String(index).padStart(2, '0')}:00 +0100`;
    const first = await receive(running.service, mail({ messageId: messageIds[0]!, date: minute(0) }));
    for (let index = 1; index < 7; index += 1) await answerTo(first, { date: minute(index) });
    const other = await receive(running.service, mail());
    await act(first.threadId, 'merge', { thread_id: other.threadId });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const search: string = cursor === null ? '?limit=3' : `?limit=3&cursor=${cursor}`;
      const found = await page(other.threadId, search);
      expect(found.thread.id).toBe(first.threadId);
      seen.push(...found.emails.map(({ id }) => id));
      cursor = found.next_cursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(8);
    expect(seen).toHaveLength(8);
    const { emails } = await getJson<{ emails: EmailJson[] }>(
      running.service,
      `/api/thread/${first.threadId}`,
    );
    expect(seen).toEqual(emails.map(({ id }) => id).reverse());
  });

  it('ends early, and cuts texts, where they are long', async () => {
    const first = await receive(running.service, mail({ body: 'a'.repeat(900_000) }));
    for (let index = 0; index < 6; index += 1) await answerTo(first, { body: 'ä'.repeat(250_000) });
    const { emails, next_cursor } = await page(first.threadId);
    expect(emails.length).toBeLessThan(7);
    expect(next_cursor).not.toBeNull();
    for (const email of emails) {
      expect(email).toMatchObject({ truncated: true });
      expect(email.text_body).toHaveLength(200_000);
    }
  });

  it('is 404 for a thread that does not exist', async () => {
    const response = await running.service.request(`/api/threads/${OTHER}`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'thread_not_found' }]);
    expect((await tryChange(OTHER, { status: 'done' })).status).toBe(404);
  });
});

describe('a change of a thread', () => {
  it('sets what it names, is an event, and is none when nothing changes', async () => {
    const { threadId } = await receive(running.service, mail());
    const before = await recordOf(threadId);
    const json = { status: 'done', assignee: ada, labels: ['b', 'a'] };
    const changed = await change(threadId, json);
    expect(changed).toMatchObject({ status: 'done', assignee: ada, labels: ['a', 'b'] });
    expect(changed.version).toBeGreaterThan(before.version);
    expect(await change(threadId, json)).toEqual(changed);
    for (const field of ['labels', 'add_labels']) {
      const response = await running.service.request(`/api/threads/${threadId}`, {
        method: 'PATCH',
        json: { [field]: ['x', 'y'], remove_labels: ['y'] },
      });
      const { error } = (await response.json()) as { error: string };
      expect([response.status, error]).toEqual([400, expect.stringContaining(`y steht in ${field} `)]);
    }
    expect(await change(threadId, { add_labels: ['c'], remove_labels: ['a'] })).toMatchObject({
      labels: ['b', 'c'],
    });
    expect(await change(threadId, { assignee: null })).toMatchObject({ assignee: null, status: 'done' });
    expect(await changesOf(threadId)).toMatchObject([
      { changes: ['status', 'assignee', 'labels'], status: 'done' },
      { changes: ['labels'], labels: ['b', 'c'] },
      { changes: ['assignee'], assignee: null },
    ]);
  });

  it('is refused when the thread was changed since, and one of many at once wins', async () => {
    const { threadId } = await receive(running.service, mail());
    const { version } = await recordOf(threadId);
    const match = { 'if-match': `"${version}"` };
    const tries = await Promise.all(
      Array.from({ length: 5 }, (_, index) => tryChange(threadId, { labels: [`p${index}`] }, match)),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
    expect(tries.find(({ status }) => status === 412)?.body.code).toBe('thread_changed');
    expect((await tryChange(threadId, {}, { 'if-match': `W/"${version + 1}"` })).body.code).toBe(
      'version_required',
    );
    expect((await tryChange(threadId, {}, { 'if-match': '*' })).status).toBe(200);
    expect((await tryChange(threadId, {}, { 'if-match': '7' })).body.code).toBe('version_required');
  });

  it('is refused with a reason where it is wrong', async () => {
    const { threadId } = await receive(running.service, mail());
    const many = Array.from({ length: 20 }, (_, index) => `l${index}`);
    await change(threadId, { labels: many });
    for (const json of [
      { status: 'later' },
      { assignee: '' },
      { assignee: 'x'.repeat(101) },
      { assignee: ' Ada' },
      { labels: [...many, 'x'] },
      { labels: ['a\u0007b'] },
      { labels: ['x'.repeat(65)] },
      { add_labels: ['x'] },
      { customer_id: 'x' },
      { colour: 'red' },
    ]) {
      expect((await tryChange(threadId, json)).status, JSON.stringify(json)).toBe(400);
    }
    expect((await recordOf(threadId)).labels).toHaveLength(20);
  });

  it('finds the thread in the list by all of it', async () => {
    const { threadId } = await receive(running.service, mail({ subject: 'zwetschge' }));
    const { threadId: plain } = await receive(running.service, mail({ subject: 'zwetschge' }));
    await change(threadId, { status: 'done', assignee: zoe, labels: ['rare', 'other'] });
    expect(await listed(`assignee=${zoe}`)).toEqual([threadId]);
    expect(await listed('label=rare')).toEqual([threadId]);
    expect(await listed(`label=rare&status=done&assignee=${zoe}&unread=true&account_id=default`)).toEqual([
      threadId,
    ]);
    expect(await listed('label=rare&status=open')).toEqual([]);
    const contradicting = await running.service.request(`/api/threads?assignee=${zoe}&assigned=false`);
    expect([contradicting.status, await contradicting.json()]).toMatchObject([
      400,
      { code: 'invalid_request', error: expect.stringContaining('assignee') as string },
    ]);
    expect(await listed('assigned=true&label=other')).toEqual([threadId]);
    expect(await listed('status=done&limit=200')).toContain(threadId);
    const open = await listed('status=open&assigned=false&limit=200');
    expect(open).toContain(plain);
    expect(open).not.toContain(threadId);
    await expect.poll(() => listed('q=zwetschge')).toHaveLength(2);
    expect(await listed('q=zwetschge&label=rare')).toEqual([threadId]);
    expect(await listed('q=zwetschge&assigned=false')).toEqual([plain]);
    await change(threadId, { labels: [] });
    expect(await listed('label=rare')).toEqual([]);
  });
});

describe('a thread that is done', () => {
  it('is open again when a person writes, and not for a machine, an import or our answer', async () => {
    const first = await receive(running.service, mail());
    const { threadId } = first;
    const statusAfter = async (fields: Parameters<typeof mail>[0], search = '') => {
      await change(threadId, { status: 'done' });
      await receive(running.service, mail({ inReplyTo: first.messageId, ...fields }), search);
      return (await recordOf(threadId)).status;
    };
    expect(await statusAfter({ headers: ['Auto-Submitted: auto-replied'] })).toBe('done');
    expect(await statusAfter({}, '?read=true')).toBe('done');
    await sendJson(running.service, {
      to: 'ada@customer.test',
      subject: 'Re',
      text_body: 'x',
      thread_id: threadId,
    });
    expect((await recordOf(threadId)).status).toBe('done');
    expect(await statusAfter({})).toBe('open');
    const changes = await changesOf(threadId);
    expect(changes.at(-1)).toMatchObject({ changes: ['status'], status: 'open' });
    expect(await listed('status=open&limit=200')).toContain(threadId);
  });

  it('is open again for an email that comes with others at once', async () => {
    const first = await receive(running.service, mail());
    await change(first.threadId, { status: 'done' });
    await Promise.all(Array.from({ length: 8 }, () => answerTo(first)));
    expect((await recordOf(first.threadId)).status).toBe('open');
  });
});

describe('threads that are joined or taken apart', () => {
  it('are open when one of them is, unite their labels, and keep whose they are', async () => {
    const [a, b] = [await receive(running.service, mail()), await receive(running.service, mail())];
    await change(a.threadId, { status: 'done', labels: ['x'] });
    await change(b.threadId, { assignee: ada, labels: ['y', 'x'], customer_id: CUSTOMER });
    await act(a.threadId, 'merge', { thread_id: b.threadId });
    expect(await recordOf(b.threadId)).toMatchObject({
      id: a.threadId,
      status: 'open',
      assignee: ada,
      labels: ['x', 'y'],
      customer_id: CUSTOMER,
      customer_source: 'operator',
    });
    expect(await listed('label=y')).toEqual([a.threadId]);
  });

  it('stay done when both are, and an answer that links them opens what they become', async () => {
    const [a, b] = [await receive(running.service, mail()), await receive(running.service, mail())];
    for (const { threadId } of [a, b]) await change(threadId, { status: 'done' });
    const link = await receive(
      running.service,
      mail({ inReplyTo: b.messageId, references: [a.messageId, b.messageId] }),
    );
    expect(await recordOf(link.threadId)).toMatchObject({ status: 'open' });
    const [c, d] = [await receive(running.service, mail()), await receive(running.service, mail())];
    for (const { threadId } of [c, d]) await change(threadId, { status: 'done' });
    await act(c.threadId, 'merge', { thread_id: d.threadId });
    expect(await recordOf(d.threadId)).toMatchObject({ id: c.threadId, status: 'done' });
  });

  it('give what they have to a thread that is split off', async () => {
    const first = await receive(running.service, mail());
    const second = await answerTo(first);
    const said = { status: 'done', assignee: ada, labels: ['x'], customer_id: OTHER };
    await change(first.threadId, said);
    const { thread_id: split } = await act(first.threadId, 'split', { email_ids: [second.id] });
    expect(await recordOf(split)).toMatchObject({ ...said, customer_source: 'operator' });
    expect(await recordOf(first.threadId)).toMatchObject(said);
  });
});

describe('a customer that an operator chose', () => {
  it('wins over what sends named and rules say, for its emails and later ones, until it is taken back', async () => {
    const sent = await sendJson(running.service, {
      to: 'ada@chosen.test',
      subject: 'A',
      text_body: 'a',
      customer_id: CUSTOMER,
    });
    const answer = await receive(
      running.service,
      mail({ from: 'ada@chosen.test', inReplyTo: sent.messageId }),
    );
    expect(await change(sent.threadId, { customer_id: OTHER, company_id: COMPANY })).toMatchObject({
      customer_id: OTHER,
      customer_source: 'operator',
      company_id: COMPANY,
    });
    const later = await receive(
      running.service,
      mail({ from: 'ada@chosen.test', inReplyTo: sent.messageId }),
    );
    const named = await sendJson(running.service, {
      to: 'ada@chosen.test',
      subject: 'A',
      text_body: 'b',
      thread_id: sent.threadId,
      customer_id: CUSTOMER,
    });
    const customers = async () => {
      const { thread, emails } = await page(sent.threadId);
      const of = new Map(emails.map((email) => [email.id, email.customer_id]));
      return [thread.customer_id, ...[sent, answer, later, named].map(({ id }) => of.get(id))];
    };
    // A customer that a send itself named does not change.
    expect(await customers()).toEqual([OTHER, CUSTOMER, OTHER, OTHER, CUSTOMER]);
    expect(await change(sent.threadId, { customer_id: null })).toMatchObject({
      customer_id: CUSTOMER,
      customer_source: 'explicit',
      company_id: COMPANY,
    });
    expect(await customers()).toEqual([CUSTOMER, CUSTOMER, CUSTOMER, CUSTOMER, CUSTOMER]);
  });
});
