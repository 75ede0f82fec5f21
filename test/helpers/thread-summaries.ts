/** The list of threads, counted from scratch in the simplest way, to compare with `thread_summaries`. */
import type pg from 'pg';
import { LISTED_STATES, type EmailState } from '../../src/core/delivery/states.ts';

interface EmailRow {
  id: string;
  thread_id: string;
  direction: 'inbound' | 'outbound';
  state: EmailState;
  activity_at: Date;
  is_automatic: boolean;
  is_unread: boolean;
  is_undelivered: boolean;
  has_attachments: boolean;
}

type Summary = Readonly<Record<string, unknown>>;

const byActivity = (a: EmailRow, b: EmailRow) =>
  a.activity_at.getTime() - b.activity_at.getTime() || (a.id < b.id ? -1 : 1);

/** The expected and the actual rows of the table, by thread. */
export async function compareSummaries(
  pool: pg.Pool,
): Promise<{ expected: readonly Summary[]; found: readonly Summary[] }> {
  const threads = await pool.query<{
    id: string;
    account_id: string;
    customer_id: string;
    company_id: string;
    status: string;
    assignee: string | null;
    labels: string[];
  }>(
    'select id, account_id, customer_id, company_id, status, assignee, labels from email_threads order by id',
  );
  const emails = await pool.query<EmailRow>(
    `select e.id, e.thread_id, e.direction, e.state, least(e.date, date_trunc('milliseconds', e.created_at)) as activity_at,
      e.written_by = 'machine' as is_automatic, u.email_id is not null as is_unread, x.email_id is not null as is_undelivered,
      exists (select from email_attachments a where a.email_id = e.id) as has_attachments
    from emails e left join unread_emails u on u.email_id = e.id left join undelivered_sends x on x.email_id = e.id`,
  );
  const expected = threads.rows.flatMap((thread): Summary[] => {
    const all = emails.rows.filter(({ thread_id }) => thread_id === thread.id).sort(byActivity);
    const undelivered = all.filter(({ is_undelivered }) => is_undelivered);
    const listed = all.filter(({ state }) => LISTED_STATES.includes(state));
    // Undelivered sends stand in the list only where nothing else does.
    const own = listed.length > 0 ? listed : undelivered;
    const newest = own.at(-1);
    if (newest === undefined) return [];
    const person = own.findLast(({ is_automatic }) => !is_automatic);
    return [
      {
        thread_id: thread.id,
        account_id: thread.account_id,
        customer_id: thread.customer_id,
        company_id: thread.company_id,
        email_count: listed.length,
        undelivered: undelivered.length,
        unread_count: own.filter(({ is_unread }) => is_unread).length,
        has_attachments: own.some(({ has_attachments }) => has_attachments),
        last_activity_at: newest.activity_at,
        newest_email_id: newest.id,
        newest_direction: newest.direction,
        person_at: person?.activity_at ?? null,
        person_email_id: person?.id ?? null,
        person_direction: person?.direction ?? null,
        is_done: thread.status === 'done',
        is_spam: thread.status === 'spam',
        assignee: thread.assignee,
        labels: thread.labels,
        facets:
          thread.status === 'spam' && undelivered.length === 0
            ? 16
            : (newest.direction === 'inbound' ? 1 : 0) +
              (own.some(({ is_unread }) => is_unread) ? 2 : 0) +
              (person?.direction === 'inbound' ? 4 : 0) +
              (thread.status === 'done' && undelivered.length === 0 ? 8 : 0),
      },
    ];
  });
  const found = await pool.query<Summary>('select * from thread_summaries order by thread_id');
  // The meaning of a version is a law of its own, see thread-summaries.prop.test.ts.
  return { expected, found: found.rows.map(({ version: _version, ...summary }) => summary) };
}

/** The expected rows of labels, from the summaries, and the actual ones. */
export async function compareThreadLabels(
  pool: pg.Pool,
): Promise<{ expected: readonly Summary[]; found: readonly Summary[] }> {
  const columns = 'thread_id, account_id, facets, last_activity_at, has_attachments';
  const expected = await pool.query<Summary>(
    `select label, ${columns} from thread_summaries, unnest(labels) label order by thread_id, label`,
  );
  const found = await pool.query<Summary>(
    `select label, ${columns} from thread_labels order by thread_id, label`,
  );
  return { expected: expected.rows, found: found.rows };
}

/** The expected rows of emails of labelled threads, from the rows of labels, and the actual ones. */
export async function compareLabelledEmails(
  pool: pg.Pool,
): Promise<{ expected: readonly Summary[]; found: readonly Summary[] }> {
  const expected = await pool.query<Summary>(
    `select l.label, e.direction, e.date, e.id as email_id, e.account_id
    from thread_labels l join emails e on e.thread_id = l.thread_id order by l.label, e.id`,
  );
  const found = await pool.query<Summary>('select * from labelled_emails order by label, email_id');
  return { expected: expected.rows, found: found.rows };
}
