/** The list of threads: its contents, its filters and pages, and the read marks. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import {
  ALL_THREADS,
  openMailStores,
  storedAttachment,
  type MessageStore,
} from '../../../test/helpers/mail-stores.ts';
import { addressOf, answerTo, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import type { InboundStore } from '../receive/inbound-ports.ts';
import type { OutboundRecord } from '../send/outbound-ports.ts';
import type { ThreadList, ThreadsQuery } from './thread-list-ports.ts';
import { EMAIL_STATES, LISTED_STATES } from '../../core/delivery/states.ts';
import { createThreadList } from './thread-list.ts';

const CUSTOMER = randomUUID();
const COMPANY = randomUUID();

let pool: pg.Pool;
let store: MessageStore;
let inbound: InboundStore;
let list: ThreadList;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ pool, store, inbound, end } = await openMailStores());
  list = createThreadList(pool);
});
afterAll(() => end());
beforeEach(async () => {
  await pool.query('truncate emails, email_threads, thread_summaries, customer_addresses cascade');
});

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute));

async function send(fields: Partial<OutboundRecord> = {}): Promise<OutboundRecord> {
  const record = outboundRecord(fields);
  await store.recordOutbound(record);
  return record;
}

async function idsOf(filter: Partial<ThreadsQuery>): Promise<readonly string[]> {
  return (await list.listThreads({ ...ALL_THREADS, ...filter })).map(({ id }) => id);
}

const AUTOMATIC = {
  kind: 'auto_reply',
  evidence: 'test',
  suppressReplies: true,
  sign: 'machine',
  isNullSender: false,
  repeats: null,
} as const;

describe('a thread in the list', () => {
  it('shows its first subject, its newest email and what is in between', async () => {
    const first = await send({
      subject: 'Angebot',
      customerId: CUSTOMER,
      companyId: COMPANY,
      to: [addressOf('ada'), addressOf('bob')],
      date: at(1),
    });
    const reply = inboundRecord(
      {
        from: { ...addressOf('ADA'), name: 'Ada Müller' },
        subject: 'Re: Angebot',
        date: at(5),
        textBody: 'Ja,\r\n  gern!\r\n\r\n> Guten Tag',
        replyText: 'Ja,\r\n  gern!',
        attachments: [storedAttachment()],
      },
      [first.messageId],
    );
    await inbound.recordInbound(reply);

    expect(await list.listThreads(ALL_THREADS)).toEqual([
      {
        id: first.threadId,
        accountId: 'default',
        subject: 'Angebot',
        customerId: CUSTOMER,
        companyId: COMPANY,
        participants: [
          { name: 'Ada Müller', address: 'ADA@example.org' },
          { name: '', address: 'sales@example.com' },
          { name: '', address: 'bob@example.org' },
        ],
        emailCount: 2,
        unreadCount: 1,
        hasAttachments: true,
        unanswered: true,
        undelivered: 0,
        status: 'open',
        assignee: null,
        assigneeName: null,
        labels: [],
        lastActivityAt: at(5),
        newestEmail: {
          id: reply.id,
          direction: 'inbound',
          from: { name: 'Ada Müller', address: 'ADA@example.org' },
          verdict: null,
          to: [{ name: '', address: 'sales@example.com' }],
          automatic: null,
          date: at(5),
          snippet: 'Ja, gern!',
        },
      },
    ]);
  });

  it('names at most ten participants, and ten recipients of its newest email, whatever it holds', async () => {
    const many = Array.from({ length: 300 }, (_, index) => addressOf(`x${index}`));
    await send({ to: many, cc: many });
    const [thread] = await list.listThreads(ALL_THREADS);
    expect(thread!.participants).toHaveLength(10);
    expect(thread!.participants[0]!.address).toBe('sales@example.com');
    expect(thread!.newestEmail.to).toEqual(
      many.slice(0, 10).map(({ localPart }) => ({ name: '', address: `${localPart}@example.org` })),
    );
  });

  it('is not there when nothing went out and nothing waits, and does not count emails that did not', async () => {
    await send({ state: 'cancelled' });
    expect(await idsOf({})).toEqual([]);
    const { threadId, messageId } = await send({ date: at(1) });
    await store.recordOutbound(
      answerTo(messageId, {
        state: 'cancelled',
        date: at(9),
        placement: { rule: 'in_reply_to', matchedMessageId: messageId },
      }),
    );
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([
      { id: threadId, emailCount: 1, lastActivityAt: at(1) },
    ]);
  });

  it('does not stay on top for a date in the future', async () => {
    const nextYear = new Date(Date.now() + 365 * 86_400_000);
    await inbound.recordInbound(inboundRecord({ date: nextYear }));
    const [thread] = await list.listThreads(ALL_THREADS);
    expect(thread!.newestEmail.date).toEqual(nextYear);
    expect(thread!.lastActivityAt.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
  });
});

describe('the filters', () => {
  it('choose by customer, company and account, also together', async () => {
    const a = await send({ customerId: CUSTOMER, date: at(1) });
    const b = await send({ customerId: CUSTOMER, companyId: COMPANY, accountId: 'other', date: at(2) });
    // To another address: the address of the others belongs to the customer.
    const c = await send({ companyId: COMPANY, date: at(3), to: [addressOf('bob')] });
    expect(await idsOf({ customerId: CUSTOMER })).toEqual([b.threadId, a.threadId]);
    expect(await idsOf({ companyId: COMPANY })).toEqual([c.threadId, b.threadId]);
    expect(await idsOf({ accountId: 'default' })).toEqual([c.threadId, a.threadId]);
    expect(await idsOf({ customerId: CUSTOMER, companyId: COMPANY, accountId: 'other' })).toEqual([
      b.threadId,
    ]);
    expect(await idsOf({ customerId: randomUUID() })).toEqual([]);
  });

  it('find the threads that wait for an answer; automatic mail neither waits nor answers', async () => {
    const question = inboundRecord({ date: at(1) });
    await inbound.recordInbound(question);
    const parents = [question.identity.messageId];
    const notice = inboundRecord({ date: at(2), automatic: AUTOMATIC });
    await inbound.recordInbound(notice);
    const isUnanswered = async (threadId: string) => (await idsOf({ unanswered: true })).includes(threadId);
    expect(await isUnanswered(question.newThreadId)).toBe(true);
    expect(await isUnanswered(notice.newThreadId)).toBe(false);
    expect(await idsOf({ unanswered: false })).toEqual([notice.newThreadId]);

    await inbound.recordInbound(
      inboundRecord({ date: at(3), automatic: AUTOMATIC, isSentCopy: true }, parents),
    );
    expect(await isUnanswered(question.newThreadId)).toBe(true);

    await store.recordOutbound(
      answerTo(parents[0]!, {
        date: at(4),
        placement: { rule: 'in_reply_to', matchedMessageId: parents[0]! },
      }),
    );
    expect(await isUnanswered(question.newThreadId)).toBe(false);
    await inbound.recordInbound(inboundRecord({ date: at(5), automatic: AUTOMATIC }, parents));
    expect(await isUnanswered(question.newThreadId)).toBe(false);
    expect(await idsOf({ unanswered: false, direction: 'inbound' })).toEqual([
      question.newThreadId,
      notice.newThreadId,
    ]);
  });

  it('choose by the direction of the newest email and by unread emails', async () => {
    const sent = await send({ date: at(1) });
    const received = inboundRecord({ date: at(2) });
    await inbound.recordInbound(received);
    expect(await idsOf({ direction: 'outbound' })).toEqual([sent.threadId]);
    expect(await idsOf({ direction: 'inbound', unread: true })).toEqual([received.newThreadId]);
    expect(await idsOf({ unread: false })).toEqual([sent.threadId]);
    expect(await idsOf({ direction: 'outbound', unread: true })).toEqual([]);
  });

  it('choose by attachments and by the last activity, also with a label and page by page', async () => {
    const [early, middle, late] = [
      await send({ date: at(1), attachments: [storedAttachment()] }),
      await send({ date: at(2), attachments: [storedAttachment()] }),
      await send({ date: at(3) }),
    ];
    const [first, second, third] = [early.threadId, middle.threadId, late.threadId];
    expect(await idsOf({ hasAttachments: true })).toEqual([second, first]);
    expect(await idsOf({ hasAttachments: false })).toEqual([third]);
    expect(await idsOf({ activeSince: at(2) })).toEqual([third, second]);
    expect(await idsOf({ activeUntil: at(2) })).toEqual([first]);
    expect(await idsOf({ activeSince: at(2), activeUntil: at(3) })).toEqual([second]);
    expect(await idsOf({ activeSince: at(3), activeUntil: at(2) })).toEqual([]);
    expect(await idsOf({ activeUntil: at(3), after: { date: at(2), id: second } })).toEqual([first]);

    await pool.query(`update email_threads set labels = '{Offer}' where id = any ($1)`, [[first, third]]);
    expect(await idsOf({ label: 'Offer', hasAttachments: true })).toEqual([first]);
    expect(await idsOf({ label: 'Offer', activeUntil: at(3) })).toEqual([first]);
    expect(await idsOf({ label: 'Offer', activeSince: at(2) })).toEqual([third]);
  });
});

it('gives each thread once, page by page, whatever their facets', async () => {
  for (let index = 0; index < 12; index += 1) {
    // Some at the same moment
    const date = at(Math.floor(index / 3));
    if (index % 2 === 0) await send({ date });
    else {
      const record = inboundRecord({ date, automatic: index % 3 === 0 ? AUTOMATIC : null });
      await inbound.recordInbound(record);
      if (index % 4 === 1) await list.markThread(record.newThreadId, 'read');
    }
  }
  const all = await list.listThreads(ALL_THREADS);
  expect(all).toHaveLength(12);
  const paged: string[] = [];
  let after: ThreadsQuery['after'] = null;
  for (;;) {
    const page = await list.listThreads({ ...ALL_THREADS, limit: 5, after });
    paged.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined) break;
    after = { date: last.lastActivityAt, id: last.id };
  }
  expect(paged).toEqual(all.map(({ id }) => id));
});

describe('marking', () => {
  it('marks all received emails of the thread, again and again to the same end', async () => {
    const first = inboundRecord();
    await inbound.recordInbound(first);
    await inbound.recordInbound(inboundRecord({}, [first.identity.messageId]));
    const mark = (as: 'read' | 'unread') => list.markThread(first.newThreadId, as);
    const marked = (unreadCount: number) => ({ threadId: first.newThreadId, unreadCount });
    expect(await mark('read')).toEqual(marked(0));
    expect(await mark('read')).toEqual(marked(0));
    expect(await idsOf({ unread: true })).toEqual([]);
    expect(await mark('unread')).toEqual(marked(2));
    expect(await mark('unread')).toEqual(marked(2));
    expect(await idsOf({ unread: true })).toEqual([first.newThreadId]);
    await mark('read');
    await inbound.recordInbound(inboundRecord({}, [first.identity.messageId]));
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([{ unreadCount: 1, emailCount: 3 }]);
  });

  it('finds the thread by the identifier of one that was merged into it', async () => {
    const older = inboundRecord();
    const younger = inboundRecord();
    await inbound.recordInbound(older);
    await inbound.recordInbound(younger);
    await inbound.recordInbound(inboundRecord({}, [older.identity.messageId, younger.identity.messageId]));
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([{ id: older.newThreadId, unreadCount: 3 }]);
    expect(await list.markThread(younger.newThreadId, 'read')).toEqual({
      threadId: older.newThreadId,
      unreadCount: 0,
    });
  });

  it('is done already for what is recorded as read, and stays as it is when that comes again', async () => {
    const first = inboundRecord({ isRead: true });
    await inbound.recordInbound(first);
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([{ unreadCount: 0, emailCount: 1 }]);
    expect(await idsOf({ unread: true })).toEqual([]);
    const unread = inboundRecord({}, [first.identity.messageId]);
    await inbound.recordInbound(unread);
    await inbound.recordInbound(inboundRecord({ isRead: true }, [first.identity.messageId]));
    await inbound.recordInbound(
      inboundRecord({ isRead: true, isSentCopy: true }, [first.identity.messageId]),
    );
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([{ unreadCount: 1, emailCount: 4 }]);
    const again = { ...unread, id: randomUUID(), isRead: true };
    expect(await inbound.recordInbound(again)).toMatchObject({ kind: 'known', id: unread.id });
    expect(await list.listThreads(ALL_THREADS)).toMatchObject([{ unreadCount: 1, emailCount: 4 }]);
    expect(await list.markThread(first.newThreadId, 'unread')).toMatchObject({ unreadCount: 3 });
  });

  it('knows no other threads, and leaves sent ones alone', async () => {
    expect(await list.markThread(randomUUID(), 'read')).toBeNull();
    const { id, threadId } = await send();
    expect(await list.markThread(threadId, 'unread')).toEqual({ threadId, unreadCount: 0 });
    expect(await store.readEmail(id)).toMatchObject({ isUnread: false });
  });

  it('shows with the email itself', async () => {
    const record = inboundRecord({ isRead: false });
    await inbound.recordInbound(record);
    expect(await store.readEmail(record.id)).toMatchObject({ isUnread: true });
    await list.markThread(record.newThreadId, 'read');
    expect(await store.readEmail(record.id)).toMatchObject({ isUnread: false });
  });
});

it('means the same states in the database as in the code', async () => {
  const { rows } = await pool.query<{ state: string; is_listed: boolean }>(
    'select state, email_is_listed(state) as is_listed from unnest($1::text[]) state',
    [EMAIL_STATES],
  );
  expect(rows.filter(({ is_listed }) => is_listed).map(({ state }) => state)).toEqual(
    EMAIL_STATES.filter((state) => LISTED_STATES.includes(state)),
  );
});
