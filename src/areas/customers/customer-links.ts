/**
 * Writes the customers and companies of emails and threads. Only this module does: it writes the columns customer_id, customer_source,
 * company_id and company_source of both, and the marks of emails that are to be relinked (`customer_relinks`). A new row gets its link
 * from the statement that creates it.
 */
import type { ThreadLinks } from '../../core/customer/link-emails.ts';
import { knowCustomersOf } from './known-customers.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

type Link = ThreadLinks['thread'] | ThreadLinks['emails'][number];

/** Writes the links that differ. @param links by thread id */
export async function writeThreadLinks(executor: Executor, links: ReadonlyMap<string, Link>): Promise<void> {
  await run(executor, WRITE_THREADS, columnsOf(links));
}

/** Writes the links that differ. @param links by email id */
export async function writeEmailLinks(executor: Executor, links: ReadonlyMap<string, Link>): Promise<void> {
  await run(executor, WRITE_EMAILS, columnsOf(links));
  await knowCustomersOf(executor, [...links.keys()]);
}

function columnsOf(links: ReadonlyMap<string, Link>) {
  const values = [...links.values()];
  return {
    ids: [...links.keys()],
    customerIds: values.map((link) => link.customerId),
    customerSources: values.map((link) => link.customerSource),
    companyIds: values.map((link) => link.companyId),
    companySources: values.map((link) => link.companySource),
  };
}

const LINKS = `
  unnest($ids::uuid[], $customerIds::uuid[], $customerSources::text[], $companyIds::uuid[], $companySources::text[])
    as l (id, customer_id, customer_source, company_id, company_source)`;
const DIFFERS = `r.id = l.id and (r.customer_id, r.customer_source, r.company_id, r.company_source)
  is distinct from (l.customer_id, l.customer_source, l.company_id, l.company_source)`;

/** The links that differ; their rows are locked, in one order. */
const changed = (table: 'emails' | 'email_threads'): string => `
  changed as materialized (
    select l.* from ${table} r, ${LINKS} where ${DIFFERS} order by r.id for no key update of r
  )`;

const WRITE_THREADS = statement(
  'write-thread-links',
  `with ${changed('email_threads')}
  update email_threads r set customer_id = l.customer_id, customer_source = l.customer_source,
    company_id = l.company_id, company_source = l.company_source
  from changed l where r.id = l.id`,
);
const WRITE_EMAILS = statement(
  'write-email-links',
  `with ${changed('emails')}
  update emails r set customer_id = l.customer_id, customer_source = l.customer_source,
    company_id = l.company_id, company_source = l.company_source
  from changed l where r.id = l.id`,
);

/** Gives a thread the link of its email, for each of these emails that is alone in its thread. Returns the ids of those threads. */
export async function linkThreadsLikeFirst(
  executor: Executor,
  emailIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await run(executor, LIKE_FIRST, { emailIds });
  return new Set(rows.map(({ id }) => id));
}

const LIKE_FIRST = statement(
  'link-threads-like-first',
  `update email_threads t set customer_id = e.customer_id, customer_source = nullif(e.customer_source, 'ambiguous'),
    company_id = e.company_id, company_source = e.company_source
  from emails e
  where e.id = any ($emailIds::uuid[]) and t.id = e.thread_id
    and t.chosen_customer_id is null and t.chosen_company_id is null
    and not exists (select from emails other where other.thread_id = t.id and other.id <> e.id)
  returning t.id`,
);

/**
 * Keeps the customer that a send named for the old thread, when that send does not move along: the first email of the new thread that is no
 * stranger's takes its place. The thread itself inherits an operator's choice (threads/thread-work.ts); relinkCustomers recomputes the
 * links that follow from rules.
 */
export async function inheritCustomer(executor: Executor, from: string, to: string): Promise<void> {
  await run(executor, INHERIT_CUSTOMER, { from, to });
  await run(executor, INHERIT_COMPANY, { from, to });
}

const HEIR = `(
  select id from emails where thread_id = $to and not new_participant and not own_customer
  order by created_at, id limit 1
)`;
const INHERIT_CUSTOMER = statement(
  'inherit-customer',
  `update emails set customer_id = t.customer_id, customer_source = 'explicit'
  from (select customer_id from email_threads where id = $from and customer_source = 'explicit' and chosen_customer_id is null) t
  where emails.id = ${HEIR} and not exists (select from emails where thread_id = $to and customer_source = 'explicit')`,
);
const INHERIT_COMPANY = statement(
  'inherit-company',
  `update emails set company_id = t.company_id, company_source = 'explicit'
  from (select company_id from email_threads where id = $from and company_source = 'explicit' and chosen_company_id is null) t
  where emails.id = ${HEIR} and not exists (select from emails where thread_id = $to and company_source = 'explicit')`,
);

/**
 * As a part of a statement: marks emails that were recorded while the rules were being changed.
 *
 * @param source a query with the column id
 */
export const markToRelink = (source: string): string => `
  insert into customer_relinks (email_id) ${source}`;

/** One email of each thread stands for it: threads may end by a merge, emails stay. */
export async function markThreads(executor: Executor, threadIds: readonly string[]): Promise<void> {
  await run(executor, MARK_THREADS, { threadIds });
}

const MARK_THREADS = statement(
  'mark-threads-to-relink',
  markToRelink(`select distinct on (thread_id) id from emails
    where thread_id = any ($threadIds::uuid[]) order by thread_id, id`),
);

export type RelinkMark = RowOf<typeof TAKE_MARKED>;

/** Locks and returns some marks that no other transaction has locked. */
export async function takeMarked(executor: Executor, limit: number): Promise<readonly RelinkMark[]> {
  return run(executor, TAKE_MARKED, { limit });
}

const TAKE_MARKED = statement(
  'take-emails-to-relink',
  'select id, email_id from customer_relinks order by id limit $limit for update skip locked',
);

export async function removeMarks(executor: Executor, marks: readonly RelinkMark[]): Promise<void> {
  await run(executor, REMOVE_MARKS, { ids: marks.map(({ id }) => id) });
}

const REMOVE_MARKS = statement(
  'remove-relink-marks',
  'delete from customer_relinks where id = any ($ids::bigint[])',
);
