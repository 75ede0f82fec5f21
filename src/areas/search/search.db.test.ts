/** Searching: the results of both lists, after every change; and both ways of searching find the same. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { inboundRecord } from '../../../test/helpers/inbound-record.ts';
import {
  ALL_THREADS,
  openMailStores,
  storedAttachment,
  type MessageStore,
} from '../../../test/helpers/mail-stores.ts';
import { addressOf, answerTo, outboundRecord } from '../../../test/helpers/outbound-record.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { InboundStore } from '../receive/inbound-ports.ts';
import type { OutboundRecord } from '../send/outbound-ports.ts';
import type { EmailsQuery } from '../emails/email-ports.ts';
import { type SearchIndex, createSearchIndex } from './search-index.ts';
import type { ThreadsQuery } from '../threads/thread-list-ports.ts';
import { parseSearchQuery, type SearchParts } from '../../core/search/query.ts';
import { knowCustomersOf } from '../customers/known-customers.ts';
import { createEmailList } from '../emails/email-list.ts';
import type { planSearch } from './search-plan.ts';
import { createSendOperations } from '../send/send-operations.ts';
import { createThreadList } from '../threads/thread-list.ts';

let pool: pg.Pool;
let store: MessageStore;
let inbound: InboundStore;
let index: SearchIndex;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ pool, store, inbound, end } = await openMailStores());
  index = createSearchIndex(pool, silentLogger, knowCustomersOf);
});
afterAll(() => end());
beforeEach(async () => {
  await pool.query('truncate emails, email_threads, thread_summaries, search_queue cascade');
});

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute));

async function send(fields: Partial<OutboundRecord> = {}): Promise<OutboundRecord> {
  const record = outboundRecord(fields);
  await store.recordOutbound(record);
  return record;
}

async function indexAll(): Promise<void> {
  while ((await index.indexSome()).count > 0);
}

type Choose = typeof planSearch;

const parse = (typed: string | SearchParts) =>
  (typeof typed === 'string' ? parseSearchQuery(typed) : parseSearchQuery(null, typed))!;

async function findThreads(
  q: string | SearchParts,
  filter: Partial<ThreadsQuery> = {},
  choose?: Choose,
): Promise<readonly string[]> {
  await indexAll();
  const threads = await createThreadList(pool, pool, choose).listThreads({
    ...ALL_THREADS,
    search: parse(q),
    ...filter,
  });
  return threads.map(({ id }) => id);
}

async function findEmails(
  q: string | SearchParts,
  filter: Partial<EmailsQuery> = {},
  choose?: Choose,
): Promise<readonly string[]> {
  await indexAll();
  const request = {
    state: null,
    defect: null,
    tag: null,
    accountId: null,
    limit: 50,
    after: null,
    ...filter,
  };
  const { emails } = await createEmailList(pool, choose)({ ...request, search: parse(q) });
  return (await parseEmailsJson(emails)).map(({ id }) => id);
}

describe('an email', () => {
  it.each([
    ['a word of its subject', 'rechnung'],
    ['the beginning of a compound word', 'rechnungs'],
    ['a number', '4711'],
    ['both in any order', '4711 rechnung'],
    ['a word of its text, without its accents', 'koln'],
    ['umlauts written out', 'mueller'],
    ['a phrase', '"mit freundlichen grüßen"'],
    ['a name', 'jörg'],
    ['an address', 'joerg.mueller@example.org'],
    ['a part of an address', '@example.org'],
    ['a blind copy', 'geheim@example.org'],
    ['the name of a file', 'Angebot_Küche-2026.pdf'],
    ['a word of the name of a file', 'kuche'],
    ['the ending of the name of a file', 'pdf'],
    ['a word of its text and one of the name of its second file', 'köln grundriss'],
  ])('is found by %s', async (_, q) => {
    const { id, threadId } = await send({
      subject: 'Rechnungsnummer 4711',
      textBody: 'Köln, den 1. März\n\nMit freundlichen Grüßen',
      to: [{ name: 'Jörg Müller', localPart: 'joerg.mueller', domain: 'example.org' }],
      bcc: [addressOf('geheim')],
      attachments: [storedAttachment('Angebot_Küche-2026.pdf'), storedAttachment('grundriss.dwg')],
    });
    await send({ subject: 'Anderes', to: [addressOf('kim', 'example.net')] });
    expect(await findThreads(q)).toEqual([threadId]);
    expect(await findEmails(q)).toEqual([id]);
  });

  it.each(['nummer', '"rechnung"', 'rechnung -4711', '"freundlichen mit"', '"4711 Köln"', 'rechnung fehlt'])(
    'is not found by %s',
    async (q) => {
      await send({ subject: 'Rechnungsnummer 4711', textBody: 'Köln. Mit freundlichen Grüßen' });
      expect(await findThreads(q)).toEqual([]);
      expect(await findEmails(q)).toEqual([]);
    },
  );

  it.each<[string, SearchParts, boolean]>([
    ['the name of its sender', { from: 'mül' }, true],
    ['a recipient as its sender', { from: 'kim' }, false],
    ['the address of a recipient', { to: 'kim@example.net' }, true],
    ['its sender as a recipient', { to: 'ada' }, false],
    ['a phrase of its subject', { subject: '"neues angebot"' }, true],
    ['a word of its text as one of its subject', { subject: 'preise' }, false],
    ['several parts', { from: 'ada', to: '@example.net', subject: 'angebot' }, true],
    ['several parts of which one differs', { from: 'ada', to: 'bob', subject: 'angebot' }, false],
    ['a sender that is left out', { from: '-ada', subject: 'angebot' }, false],
    ['another sender that is left out', { from: '-kim', subject: 'angebot' }, true],
  ])('is looked for by %s', async (_, parts, isFound) => {
    const record = inboundRecord({
      subject: 'Neues Angebot',
      textBody: 'Unsere Preise, Kim',
      from: { name: 'Ada Müller', localPart: 'ada', domain: 'example.org' },
      to: [{ name: 'Kim', localPart: 'kim', domain: 'example.net' }],
    });
    await inbound.recordInbound(record);
    const lookUp: Choose = () => ({ kind: 'look up' });
    const walk: Choose = () => ({ kind: 'walk', steps: 500 });
    for (const choose of [lookUp, walk]) {
      expect(await findThreads(parts, {}, choose)).toEqual(isFound ? [record.newThreadId] : []);
      expect(await findEmails(parts, {}, choose)).toEqual(isFound ? [record.id] : []);
    }
  });

  it('is found in the thread it was merged into', async () => {
    const older = inboundRecord({ subject: 'Alt', date: at(1) });
    const younger = inboundRecord({ subject: 'Zitrone', date: at(2) });
    await inbound.recordInbound(older);
    await inbound.recordInbound(younger);
    expect(await findThreads('zitrone')).toEqual([younger.newThreadId]);
    await inbound.recordInbound(
      inboundRecord({ subject: 'Beide' }, [older.identity.messageId, younger.identity.messageId]),
    );
    expect(await findThreads('zitrone')).toEqual([older.newThreadId]);
  });

  it('that did not go out is found in the list of emails only', async () => {
    const first = await send({ date: at(1) });
    const answer = answerTo(first.messageId, {
      subject: 'Zitrone',
      state: 'unknown',
      deliveries: [{ address: 'ada@example.org', state: 'unknown', reply: null }],
      placement: { rule: 'in_reply_to', matchedMessageId: first.messageId },
    });
    await store.recordOutbound(answer);
    expect(await findThreads('zitrone')).toEqual([first.threadId]);
    await createSendOperations(pool).resolve(answer.id, 'failed', 60_000, 'a test');
    expect(await findThreads('zitrone')).toEqual([]);
    expect(await findEmails('zitrone')).toEqual([answer.id]);
    expect(await findEmails('zitrone', { state: 'failed' })).toEqual([answer.id]);
    expect(await findEmails('zitrone', { state: 'sent' })).toEqual([]);
  });

  it('is found by its new words after it was read again, and no longer when it is gone', async () => {
    const { id } = await send({ subject: 'Zitrone' });
    await indexAll();
    await pool.query(`update emails set subject = 'Orange' where id = $1`, [id]);
    expect(await findEmails('zitrone')).toEqual([]);
    expect(await findEmails('orange')).toEqual([id]);
    await pool.query('delete from emails where id = $1', [id]);
    expect(await findEmails('orange')).toEqual([]);
  });
});

describe('making emails searchable', () => {
  it('reads the files of received mail together with it', async () => {
    const record = inboundRecord({ attachments: [storedAttachment('Grundriss.dwg')] });
    await inbound.recordInbound(record);
    expect(await findEmails('grundriss')).toEqual([record.id]);
  });

  it('is done once, by one instance at a time', async () => {
    for (let count = 0; count < 5; count += 1) await send({ subject: 'Zitrone' });
    const other = createSearchIndex(pool, silentLogger, knowCustomersOf);
    const counts = await Promise.all([index.indexSome(), other.indexSome()]);
    expect(Math.max(...counts.map(({ count }) => count))).toBe(5);
    await indexAll();
    expect(await findEmails('zitrone')).toHaveLength(5);
    expect((await pool.query('select from search_queue')).rowCount).toBe(0);
  });

  it('goes on behind an email whose words the database refuses', async () => {
    await pool.query('alter table email_search add constraint fault check (length(words) < 1000)');
    try {
      await send({ textBody: Array.from({ length: 2000 }, (_, n) => `wort${n}`).join(' ') });
      const { id } = await send({ subject: 'Zitrone' });
      expect(await findEmails('zitrone')).toEqual([id]);
      expect(await findEmails('wort1')).toEqual([]);
    } finally {
      await pool.query('alter table email_search drop constraint fault');
    }
  });
});

describe('both ways of searching', () => {
  const walk =
    (steps: number): Choose =>
    () => ({ kind: 'walk', steps });
  const lookUp: Choose = () => ({ kind: 'look up' });

  it('find the same, in the order of the list, page by page, with every filter', async () => {
    const words = ['apfel', 'birne', 'kirsche', 'dattel'];
    const customers = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
    const sent: OutboundRecord[] = [];
    for (let number = 0; number < 60; number += 1) {
      const parent = number % 3 === 0 ? undefined : sent[(number * 7) % sent.length];
      const fields: Partial<OutboundRecord> = {
        date: at((number * 13) % 50),
        subject: words.filter((_, bit) => ((number * 5) >> bit) % 2 === 1).join(' '),
        accountId: number % 4 === 0 ? 'other' : 'default',
        customerId: customers[number % 5] ?? null,
        state: number % 9 === 0 ? 'failed' : 'sent',
      };
      const record =
        parent === undefined
          ? outboundRecord(fields)
          : answerTo(parent.messageId, {
              ...fields,
              accountId: parent.accountId,
              placement: { rule: 'in_reply_to', matchedMessageId: parent.messageId },
            });
      await store.recordOutbound(record);
      sent.push(record);
    }
    // Of several calls at the same moment, only one would index, and the others would not wait for it.
    await indexAll();
    for (const q of ['apfel', 'birne kirsche', '"apfel birne"', 'dattel -apfel', 'x']) {
      for (const filter of [
        {},
        { accountId: 'other' },
        { limit: 4 },
        { after: { date: at(30), id: sent[0]!.id } },
      ]) {
        const [found, ...others] = await Promise.all(
          [lookUp, walk(1), walk(7), walk(1000)].map((choose) => findThreads(q, filter, choose)),
        );
        for (const other of others) expect(other, `${q} ${JSON.stringify(filter)}`).toEqual(found);
        const [emails, ...otherEmails] = await Promise.all(
          [lookUp, walk(1), walk(7), walk(1000)].map((choose) => findEmails(q, filter, choose)),
        );
        for (const other of otherEmails) expect(other, `${q} ${JSON.stringify(filter)}`).toEqual(emails);
        expect(found!.length > 0).toBe(q !== 'x');
      }
      const byCustomer = await findThreads(q, { customerId: customers[0]! }, walk(5));
      expect(byCustomer).toEqual(await findThreads(q, { customerId: customers[0]! }, lookUp));
    }
    const failed = await findEmails('apfel', { state: 'failed' }, lookUp);
    expect(failed.length).toBeGreaterThan(0);
    expect(await findEmails('apfel', { state: 'failed' }, walk(1000))).toEqual(failed);
  });

  it('find what is behind the end of a walk, however long it was', async () => {
    const oldest = await send({ subject: 'Apfel', date: at(0) });
    await pool.query(
      `insert into email_threads (id, account_id) select md5(i::text)::uuid, 'default' from generate_series(1, 400) i`,
    );
    await pool.query(
      `insert into emails (
        id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
        cc_addresses, bcc_addresses, subject, text_body, date, state, placement_rule, raw_size_bytes, raw
      )
      select md5('email' || i)::uuid, 'default', md5(i::text)::uuid, 'outbound', i || '@example.com', '{}', '{}',
        '{"name": "", "address": "ada@example.org"}', '[]', '[]', '[]', 'birne', '', $1::timestamptz + i * interval '1 second',
        'sent', 'new', 0, ''
      from generate_series(1, 400) i`,
      [at(1)],
    );
    await indexAll();
    for (const steps of [1, 200, 300, 400, 500]) {
      for (const filter of [{}, { accountId: 'default' }]) {
        expect(await findEmails('apfel', filter, walk(steps)), String(steps)).toEqual([oldest.id]);
        expect(await findThreads('apfel', filter, walk(steps)), String(steps)).toEqual([oldest.threadId]);
      }
    }
  });
});
