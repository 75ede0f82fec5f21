/**
 * Every pair of filters of `GET /api/emails`: the emails that a page finds, and that its reads stay in proportion, even if both filters
 * match many emails and hardly any email matches both. Labels, files and tags do not overlap, and much is only among the oldest emails.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CountingPool } from '../../../test/helpers/counting-pool.ts';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { openMailStores } from '../../../test/helpers/mail-stores.ts';
import { NO_FILTER, type EmailFilter, type EmailsQuery } from './email-ports.ts';
import type { MessageId } from '../../core/message/message-id.ts';
import { createEmailList } from './email-list.ts';

const THREADS = 3000;
const LIMIT = 10;
/**
 * Pages of 8 kB that a page of LIMIT may touch: looking at each of 9,000 emails would take 40,000. A walk looks at ten emails for each row
 * of a page, and intersecting reads the index of each filter.
 */
const MAX_BUFFERS = 2000;

let pool: pg.Pool;
let end: () => Promise<void>;

/** As `md5(name)::uuid`. */
const idOf = (name: string) =>
  createHash('md5')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

beforeAll(async () => {
  ({ pool, end } = await openMailStores(1));
  await pool.query(
    `insert into email_threads (id, account_id, labels, customer_id, company_id)
    select md5('thread' || t)::uuid, case when t % 20 = 19 then 'small' else 'default' end,
      array_remove(array[case when t < $1::int / 20 then 'old' end, case when t % 2 = 1 then 'odd' end], null),
      case when t % 10 in (3, 5) then md5('customer')::uuid end, case when t % 10 in (4, 5) then md5('company')::uuid end
    from generate_series(0, $1::int - 1) t`,
    [THREADS],
  );
  await pool.query(
    `with mail as (
      select i, md5('email' || i)::uuid as id, i / 3 as t, i % 3 = 0 as is_inbound,
        timestamptz '2026-01-01' + i * interval '1 minute' as date
      from generate_series(0, 3 * $1::int - 1) i
    ), files as (
      insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256)
      select gen_random_uuid(), id, 0, 'a.pdf', 'application/pdf', 1, 'default/' || i || '/a.pdf', sha256('')
      from mail where t % 2 = 0 and t >= $1 / 20 and is_inbound
    ), deliveries as (
      insert into email_deliveries (email_id, ordinal, address, state)
      select id, 0, 'ada@example.org', 'accepted' from mail where i % 50 = 1 and not is_inbound
    ), reports as (
      insert into delivery_reports (email_id, ordinal, report_id, address, outcome, diagnostic, reported_at)
      select id, 0, id, 'ada@example.org', 'bounced_hard', '', now() from mail where i % 50 = 1 and not is_inbound
    ), queued as (
      insert into send_queue (email_id, account_id, lane, priority, due_at, give_up_at)
      select id, 'default', 'a', 1, timestamptz '2027-01-01', timestamptz '2027-01-02'
      from mail where i % 300 = 2
    )
    insert into emails (
      id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
      cc_addresses, bcc_addresses, subject, text_body, date, created_at, tags, state, placement_rule, raw_size_bytes, raw,
      identity_key, reply_text, customer_id, company_id, list_id, defects
    )
    select m.id, t.account_id, t.id, case when is_inbound then 'inbound' else 'outbound' end, i || '@example.com', '{}', '{}',
      '{"name": "", "address": "ada@example.org"}', '[]', '[]', '[]', '', '', m.date,
      case when i % 100 = 51 then timestamptz '2026-12-01' + i * interval '1 second' else m.date end,
      array_remove(array[case when m.t < $1 / 20 then 'old' end, case when m.t % 2 = 0 then 'even' end], null),
      case when is_inbound then 'received' when i % 300 = 2 then 'deferred' when i % 50 = 4 then 'failed' else 'sent' end,
      'new', 0, '', case when is_inbound then sha256(i::text::bytea) end, case when is_inbound then '' end,
      t.customer_id, t.company_id, case when m.t % 10 = 7 and is_inbound then 'news.example' end,
      case when is_inbound and i % 60 = 0 then '{not_parsed}'::text[] else '{}' end
    from mail m join email_threads t on t.id = md5('thread' || m.t)::uuid`,
    [THREADS],
  );
  await pool.query('vacuum analyze');
});
afterAll(() => end());

interface One {
  readonly name: string;
  readonly query: Partial<EmailsQuery>;
  /** The condition on an email `e`. */
  readonly condition: string;
}

const by = (name: string, filter: Partial<EmailFilter>, condition: string): One => ({
  name,
  query: { filter: { ...NO_FILTER, ...filter } },
  condition,
});
const bySome = (name: string, query: Partial<EmailsQuery>, condition: string): One => ({
  name,
  query,
  condition,
});
const hasLabel = (label: string) =>
  by(
    `label ${label}`,
    { label },
    `exists (select from email_threads t where t.id = e.thread_id and t.labels @> '{${label}}')`,
  );
const hasFiles = (is: boolean) =>
  by(
    `files ${is}`,
    { hasFiles: is },
    `${is} = exists (select from email_attachments a where a.email_id = e.id)`,
  );
const bounced = (is: boolean) =>
  by(
    `bounced ${is}`,
    { bounced: is },
    `${is} = exists (select from delivery_reports r where r.email_id = e.id)`,
  );
const since = (moment: string) =>
  by(`since ${moment}`, { recordedSince: new Date(moment) }, `e.created_at >= '${moment}'`);

/** Alternatives of one filter, which are not combined with each other. */
const FILTERS: readonly (readonly One[])[] = [
  [by('thread', { threadId: idOf('thread7') }, `e.thread_id = md5('thread7')::uuid`)],
  [by('customer', { customerId: idOf('customer') }, `e.customer_id = md5('customer')::uuid`)],
  [by('company', { companyId: idOf('company') }, `e.company_id = md5('company')::uuid`)],
  (['inbound', 'outbound'] as const).map((direction) =>
    by(direction, { direction }, `e.direction = '${direction}'`),
  ),
  [bounced(true), bounced(false)],
  [hasFiles(true), hasFiles(false)],
  [by('list', { listId: 'news.example' }, `e.list_id = 'news.example'`)],
  [by('message', { messageId: '21@example.com' as MessageId }, `e.message_id = '21@example.com'`)],
  [hasLabel('old'), hasLabel('odd'), hasLabel('none')],
  [since('2026-12-01T00:00:00Z'), since('2026-01-04T00:00:00Z'), since('2027-06-01T00:00:00Z')],
  [
    by(
      'scheduled',
      { scheduledSince: new Date('2026-06-01') },
      'exists (select from send_queue q where q.email_id = e.id)',
    ),
  ],
  (['received', 'sent', 'failed', 'cancelled'] as const).map((state) =>
    bySome(state, { state }, `e.state = '${state}'`),
  ),
  [bySome('not parsed', { defect: 'not_parsed' }, `e.defects @> '{not_parsed}'`)],
  ['old', 'even', 'none'].map((tag) => bySome(`tag ${tag}`, { tag }, `e.tags @> '{${tag}}'`)),
  [
    ...['default', 'small', 'empty'].map((accountId) =>
      bySome(`account ${accountId}`, { accountId }, `e.account_id = '${accountId}'`),
    ),
    bySome('a key of accounts', { within: ['small', 'empty'] }, `e.account_id in ('small', 'empty')`),
    bySome('a key of no account', { within: [] }, 'false'),
  ],
];

function together(a: One, b: One): One {
  const filters = [a, b].flatMap(({ query }) => (query.filter === undefined ? [] : [query.filter]));
  const asked = filters.flatMap((filter) => Object.entries(filter).filter(([, value]) => value !== null));
  return {
    name: `${a.name}, ${b.name}`,
    query: {
      ...a.query,
      ...b.query,
      ...(filters.length === 0 ? {} : { filter: { ...NO_FILTER, ...Object.fromEntries(asked) } }),
    },
    condition: `${a.condition} and ${b.condition}`,
  };
}

const PAIRS = FILTERS.flatMap((alternatives, index) => [
  alternatives,
  ...FILTERS.slice(index + 1).map((others) =>
    alternatives.flatMap((one) => others.map((other) => together(one, other))),
  ),
]);

describe('a page of emails', () => {
  it.each(PAIRS.map((pairs) => [pairs[0]!.name, pairs] as const))(
    'by %s, and the like, is right, and read in proportion',
    async (_, pairs) => {
      for (const { name, query, condition } of pairs) {
        const { rows } = await pool.query<{ id: string; date: Date }>(
          `select e.id, e.date from emails e where ${condition} order by e.date desc, e.id desc`,
        );
        // The first page, and one that begins in the middle.
        for (const place of rows.length > LIMIT ? [0, Math.floor(rows.length / 2)] : [0]) {
          const counting = new CountingPool(pool);
          const { emails } = await createEmailList(counting.asPool())({
            search: null,
            accountId: null,
            state: null,
            defect: null,
            tag: null,
            limit: LIMIT,
            after: place === 0 ? null : rows[place - 1]!,
            ...query,
          });
          const found = (await parseEmailsJson(emails)).map(({ id }) => id);
          expect(found, name).toEqual(rows.slice(place, place + LIMIT).map(({ id }) => id));
          expect(counting.buffers, `${name}, from ${place} on`).toBeLessThan(MAX_BUFFERS);
        }
      }
    },
  );
});
