/**
 * The reads of pages of filtered lists: as much as the page needs, however many emails there are, and wherever the matching ones are. All
 * but the oldest twentieth of the threads begin with a received email with a file; the oldest have the label, and no files.
 */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CountingPool } from '../../../test/helpers/counting-pool.ts';
import { parseEmailsJson } from '../../../test/helpers/emails-json.ts';
import { ALL_THREADS, openMailStores } from '../../../test/helpers/mail-stores.ts';
import { compareEmailJson } from '../../../test/helpers/email-json-rows.ts';
import { compareLabelledEmails } from '../../../test/helpers/thread-summaries.ts';
import { NO_FILTER, type EmailFilter, type EmailsQuery } from './email-ports.ts';
import type { ThreadsQuery } from '../threads/thread-list-ports.ts';
import { createThreadList } from '../threads/thread-list.ts';
import { createEmailList } from './email-list.ts';

const THREADS = 2000;
const OLD = THREADS / 20;
const LIMIT = 10;
/** Pages of 8 kB that a page of LIMIT may touch: for each row the index, the email, and its displayed data. */
const MAX_BUFFERS = 500;

let pool: pg.Pool;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ pool, end } = await openMailStores(1));
  await pool.query(
    `insert into email_threads (id, account_id, labels)
    select md5('thread' || t)::uuid, case when t % 100 = 99 then 'small' else 'default' end,
      case when t < $2 then '{old}'::text[] when t % 100 = 99 then '{}' else '{later}' end
    from generate_series(0, $1::int - 1) t`,
    [THREADS, OLD],
  );
  await pool.query(
    `with mail as (
      select i, md5('email' || i)::uuid as id, i / 3 as thread, i % 3 = 0 as is_first from generate_series(0, 3 * $1::int - 1) i
    ), files as (
      insert into email_attachments (id, email_id, ordinal, filename, content_type, size_bytes, storage_path, sha256, inline)
      select gen_random_uuid(), id, 0, 'a.pdf', 'application/pdf', 1, 'default/' || i || '/a.pdf', sha256(''), not is_first
      from mail where thread >= $2 and thread % 100 <> 99
    )
    insert into emails (
      id, account_id, thread_id, direction, message_id, in_reply_to, reference_ids, from_address, to_addresses,
      cc_addresses, bcc_addresses, subject, text_body, date, tags, state, placement_rule, raw_size_bytes, raw, identity_key,
      reply_text
    )
    select m.id, t.account_id, t.id, case when is_first then 'inbound' else 'outbound' end, i || '@example.com', '{}', '{}',
      '{"name": "", "address": "ada@example.org"}', '[]', '[]', '[]', '', '', timestamptz '2026-01-01' + i * interval '1 minute',
      case when m.thread < $2 then '{old}'::text[] else '{}' end, case when is_first then 'received' else 'sent' end, 'new', 0,
      '', case when is_first then sha256(i::text::bytea) end, case when is_first then '' end
    from mail m join email_threads t on t.id = md5('thread' || m.thread)::uuid`,
    [THREADS, OLD],
  );
  await pool.query('vacuum analyze');
});
afterAll(() => end());

const ALL_EMAILS: EmailsQuery = {
  search: null,
  accountId: null,
  state: null,
  defect: null,
  tag: null,
  limit: LIMIT,
  after: null,
};

type Asked = Partial<EmailsQuery> & { readonly filter: EmailFilter };
const asked = (filter: Partial<EmailFilter>, more: Partial<EmailsQuery> = {}): Asked => ({
  ...more,
  filter: { ...NO_FILTER, ...filter },
});

/** The numbers of the emails that match, newest first. */
async function expected(condition: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select e.id from emails e where ${condition} order by e.date desc, e.id desc`,
  );
  return rows.map(({ id }) => id);
}
const FILES = 'exists (select from email_attachments a where a.email_id = e.id and not a.inline)';
const LABELLED = (label: string) =>
  `e.thread_id in (select id from email_threads where labels @> '{${label}}')`;

describe('a page of emails', () => {
  it.each<[string, Asked, string]>([
    ['of a label of old threads', asked({ label: 'old' }), LABELLED('old')],
    ['of a label of nearly all', asked({ label: 'later' }), LABELLED('later')],
    ['of a label that no thread has', asked({ label: 'none' }), 'false'],
    [
      'of a label and a direction',
      asked({ label: 'old', direction: 'inbound' }),
      `${LABELLED('old')} and e.direction = 'inbound'`,
    ],
    ['of a label, in a state that none has', asked({ label: 'later' }, { state: 'failed' }), 'false'],
    ['of a label, in an account that has it not', asked({ label: 'later' }, { accountId: 'small' }), 'false'],
    ['with files', asked({ hasFiles: true }), FILES],
    ['sent with files, which none is', asked({ hasFiles: true, direction: 'outbound' }), 'false'],
    ['with files, in an account without', asked({ hasFiles: true }, { accountId: 'small' }), 'false'],
    [
      'received without files, which only old and few are',
      asked({ hasFiles: false, direction: 'inbound' }),
      `e.direction = 'inbound' and not ${FILES}`,
    ],
    [
      'of a tag that old ones have, and a direction',
      asked({ direction: 'inbound' }, { tag: 'old' }),
      `e.tags @> '{old}' and e.direction = 'inbound'`,
    ],
  ])('%s reads what it shows', async (_, query, condition) => {
    const counting = new CountingPool(pool);
    const list = createEmailList(counting.asPool());
    const ids = await expected(condition);
    const page = await list({ ...ALL_EMAILS, ...query });
    const found = (await parseEmailsJson(page.emails)).map(({ id }) => id);
    expect(found).toEqual(ids.slice(0, LIMIT));
    expect(counting.buffers).toBeLessThan(MAX_BUFFERS);

    // Reads all of them page by page; a page in the middle costs as much as the first.
    const before = counting.buffers;
    const middle = ids[Math.floor(ids.length / 2)];
    if (middle === undefined) return;
    const { rows } = await pool.query<{ date: Date }>('select date from emails where id = $1', [middle]);
    const next = await list({ ...ALL_EMAILS, ...query, after: { date: rows[0]!.date, id: middle } });
    const place = ids.indexOf(middle) + 1;
    expect((await parseEmailsJson(next.emails)).map(({ id }) => id)).toEqual(ids.slice(place, place + LIMIT));
    expect(counting.buffers - before).toBeLessThan(MAX_BUFFERS);
  });
});

describe('a page of threads', () => {
  it.each<[string, Partial<ThreadsQuery>, number]>([
    ['with attachments', { hasAttachments: true }, LIMIT],
    ['without attachments, which few are', { hasAttachments: false }, LIMIT],
    ['with attachments, in an account without', { hasAttachments: true, accountId: 'small' }, 0],
    ['of a label, with attachments, which none of it has', { label: 'old', hasAttachments: true }, 0],
    ['of a label, in an account without it', { label: 'later', accountId: 'small' }, 0],
    ['of a label, with attachments', { label: 'later', hasAttachments: true }, LIMIT],
    ['without attachments, in an account of such', { hasAttachments: false, accountId: 'small' }, LIMIT],
  ])('%s reads what it shows', async (_, query, count) => {
    const counting = new CountingPool(pool);
    const threads = await createThreadList(counting.asPool()).listThreads({
      ...ALL_THREADS,
      ...query,
      limit: LIMIT,
    });
    expect(threads).toHaveLength(count);
    expect(threads.every(({ hasAttachments }) => hasAttachments === query.hasAttachments)).toBe(true);
    expect(counting.buffers).toBeLessThan(MAX_BUFFERS);
  });
});

it('knows the emails of labels, and which have files, as the triggers were told', async () => {
  for (const compare of [compareLabelledEmails, compareEmailJson]) {
    const { expected: all, found } = await compare(pool);
    expect(found).toEqual(all);
  }
});
