/** The filters of the list of emails, each alone, in combination and together with words, and the counts of folders. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { mail, receive, type Received } from '../helpers/inbound-mail.ts';
import {
  getJson,
  makeClerk,
  sendJson,
  startServiceWithSink,
  type SentResult,
} from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
let offer: SentResult;
let answer: Received;
let other: Received;
let scheduled: { id: string; threadId: string };
let bounce: Received;
let ada: string;

const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
const COMPANY = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e36';
const SEND_AT = new Date(Date.now() + 5 * 86_400_000);
const FILE = { filename: 'a.txt', content: 'SGFsbG8=', content_type: 'text/plain' };

beforeAll(async () => {
  running = await startServiceWithSink();
  const { service } = running;
  ({ id: ada } = await makeClerk(service, 'Ada'));
  offer = await sendJson(service, {
    to: 'ada@filters.test',
    subject: 'Quittenmarmelade',
    text_body: 'a',
    customer_id: CUSTOMER,
    company_id: COMPANY,
    attachments: [FILE],
    tags: ['offer'],
  });
  answer = await receive(
    service,
    mail({ from: 'ada@filters.test', inReplyTo: offer.messageId, subject: 'Quittenmarmelade' }),
  );
  other = await receive(service, mail({ from: 'eve@elsewhere.test' }));
  const response = await service.request('/api/send', {
    json: { to: 'ada@filters.test', subject: 'Later', text_body: 'b', send_at: SEND_AT.toISOString() },
  });
  scheduled = (await response.json()) as typeof scheduled;
  const report = deliveryReport(offer.messageId, [{ address: 'ada@filters.test' }]);
  bounce = await receive(service, `List-Id: Jam <Jam.list.test>\r\n${report.toString()}`);
  await service.request(`/api/threads/${offer.threadId}`, {
    method: 'PATCH',
    json: { labels: ['jam'], assignee: ada },
  });
});
afterAll(() => running.end());

interface PageJson {
  readonly emails: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

async function listed(search: string): Promise<readonly string[]> {
  const { emails } = await getJson<PageJson>(running.service, `/api/emails?${search}`);
  return emails.map(({ id }) => id).sort();
}
const ids = (...emails: readonly { readonly id: string }[]) => emails.map(({ id }) => id).sort();
const at = (date: Date) => encodeURIComponent(date.toISOString());

describe('the list of emails', () => {
  it('is that of a thread, a customer, a company, a direction', async () => {
    expect(await listed(`thread_id=${offer.threadId}`)).toEqual(ids(offer, answer, bounce));
    expect(await listed(`customer_id=${CUSTOMER}`)).toEqual(expect.arrayContaining(ids(offer, answer)));
    expect(await listed(`customer_id=${CUSTOMER}`)).not.toContain(other.id);
    expect(await listed(`company_id=${COMPANY}&direction=outbound`)).toEqual(ids(offer));
    expect(await listed('direction=inbound')).toEqual(ids(answer, other, bounce));
    expect(await listed('direction=inbound&state=sent')).toEqual([]);
    expect(await listed(`thread_id=${CUSTOMER}`)).toEqual([]);
  });

  it('is that of what bounced, has files, or is in a thread with a label', async () => {
    expect(await listed('bounced=true')).toEqual(ids(offer));
    expect(await listed(`bounced=false&customer_id=${CUSTOMER}&direction=inbound`)).not.toContain(offer.id);
    expect(await listed('has_files=true')).toEqual(ids(offer, bounce));
    expect(await listed(`has_files=false&thread_id=${offer.threadId}`)).toEqual(ids(answer));
    expect(await listed('label=jam')).toEqual(ids(offer, answer, bounce));
    expect(await listed('label=jam&tag=offer')).toEqual(ids(offer));
    expect(await listed('label=none')).toEqual([]);
  });

  it('is that of a mailing list, which is shown with its emails', async () => {
    expect(await listed('list_id=jam.LIST.test')).toEqual(ids(bounce));
    expect(await listed(`list_id=${encodeURIComponent('<jam.list.test>')}&direction=outbound`)).toEqual([]);
    expect(await listed('list_id=list.test')).toEqual([]);
    const page = await getJson<PageJson>(running.service, '/api/emails?list_id=jam.list.test');
    expect(page.emails).toMatchObject([{ id: bounce.id, list_id: 'jam.list.test' }]);
    expect(await getJson(running.service, `/api/emails/${bounce.id}`)).toMatchObject({
      list_id: 'jam.list.test',
    });
    expect(await getJson(running.service, `/api/emails/${answer.id}`)).toMatchObject({ list_id: null });
  });

  it('is that of a Message-ID, in any account, with brackets or without', async () => {
    const { message_id: messageId } = await getJson<{ message_id: string }>(
      running.service,
      `/api/emails/${answer.id}`,
    );
    const bare = messageId.replace(/^<|>$/g, '');
    for (const text of [bare, `<${bare}>`])
      expect(await listed(`message_id=${encodeURIComponent(text)}`)).toEqual(ids(answer));
    expect(await listed(`message_id=${encodeURIComponent(bare)}&direction=outbound`)).toEqual([]);
    expect(await listed('message_id=nobody@example.com')).toEqual([]);
    const refused = await running.service.request(`/api/emails?message_id=${encodeURIComponent('a b')}`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_message_id' }]);
  });

  it('is that of a time', async () => {
    const hour = 3_600_000;
    expect(await listed(`scheduled_since=${at(SEND_AT)}`)).toEqual(ids(scheduled));
    expect(await listed(`scheduled_until=${at(SEND_AT)}`)).toEqual([]);
    const between = `scheduled_since=${at(new Date(SEND_AT.getTime() - hour))}&scheduled_until=${at(new Date(SEND_AT.getTime() + hour))}`;
    expect(await listed(between)).toEqual(ids(scheduled));
    expect(await listed(`${between}&state=sent`)).toEqual([]);
    expect(await listed(`recorded_since=${at(new Date(Date.now() + hour))}`)).toEqual([]);
    // The date of the received email is earlier.
    expect(await listed(`recorded_since=${at(new Date(Date.now() - hour))}`)).toEqual(
      ids(offer, answer, other, scheduled, bounce),
    );
  });

  it('combines with words', async () => {
    await expect.poll(() => listed('q=quittenmarmelade&direction=outbound')).toEqual(ids(offer));
    await expect
      .poll(() => listed(`q=quitten&thread_id=${offer.threadId}&direction=inbound`))
      .toContain(answer.id);
    expect(await listed('q=quittenmarmelade&has_files=true')).toEqual(ids(offer));
    expect(await listed(`q=quittenmarmelade&thread_id=${other.threadId}`)).toEqual([]);
  });

  it('gives each email once, page by page, whatever filters it', async () => {
    const filters = [
      'direction=inbound',
      `thread_id=${offer.threadId}`,
      `customer_id=${CUSTOMER}`,
      'label=jam',
      'list_id=jam.list.test',
      'has_files=true',
      'bounced=true',
      `recorded_since=${at(new Date(0))}`,
    ];
    for (const filter of filters) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const search: string = `${filter}&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`;
        const page: PageJson = await getJson<PageJson>(running.service, `/api/emails?${search}`);
        seen.push(...page.emails.map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(seen.toSorted(), filter).toEqual(await listed(filter));
    }
  });

  it('refuses what is no filter', async () => {
    for (const search of [
      'thread_id=x',
      'bounced=maybe',
      'recorded_since=yesterday',
      'has_file=true',
      'label=',
    ]) {
      expect((await running.service.request(`/api/emails?${search}`)).status, search).toBe(400);
    }
  });
});

describe('the counts of folders', () => {
  const folders = (search = '') => getJson<Record<string, unknown>>(running.service, `/api/folders${search}`);

  it('are those of threads, emails, labels and accounts', async () => {
    expect(await folders(`?assignee=${ada}`)).toEqual({
      limit: 1000,
      // The scheduled send of a program is no work, and the bounce is.
      threads: {
        open: 2,
        unread: 2,
        unanswered: 1,
        undelivered: 1,
        done: 1,
        spam: 0,
        spam_of_customers: 0,
        mine: 1,
        unassigned: 1,
      },
      emails: { received: 3, sent: 1, scheduled: 1, queued: 1, deferred: 0, failed: 0, unknown: 0 },
      drafts: 0,
      labels: [{ label: 'jam', open: 1 }],
      accounts: [{ account_id: 'default', open: 2, unread: 2, unanswered: 1 }],
    });
    expect(await folders('?account_id=default')).toMatchObject({
      threads: { open: 2, mine: 0 },
      accounts: [],
    });
    expect((await running.service.request('/api/folders?account_id=nobody')).status).toBe(400);
  });

  it('are those of drafts, until they are sent or thrown away', async () => {
    const write = async () => {
      const json = { message: { subject: 'x' } };
      const response = await running.service.request('/api/drafts', { method: 'POST', json });
      return ((await response.json()) as { id: string }).id;
    };
    const [first] = [await write(), await write()];
    expect(await folders()).toMatchObject({ drafts: 2 });
    expect(await folders('?account_id=default')).toMatchObject({ drafts: 2 });
    await running.service.request(`/api/drafts/${first}`, { method: 'DELETE' });
    expect(await folders()).toMatchObject({ drafts: 1 });
  });

  it('follow what is done', async () => {
    await running.service.request(`/api/threads/${offer.threadId}`, {
      method: 'PATCH',
      json: { status: 'done' },
    });
    expect(await folders(`?assignee=${ada}`)).toMatchObject({
      threads: { open: 1, done: 2, undelivered: 0, mine: 0 },
      labels: [{ label: 'jam', open: 0 }],
    });
  });
});
