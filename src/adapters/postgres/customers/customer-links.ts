/**
 * Writes the customers and companies of emails and threads, and is alone in it: the columns customer_id, customer_source,
 * company_id and company_source of both, and the marks of emails that are to be linked anew (`customer_relinks`). A new row
 * gets its link with the statement that makes it.
 */
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { ThreadLinks } from '../../../core/customer/link-thread.ts';
import type { Database } from '../db/database.ts';

type Link = ThreadLinks['thread'] | ThreadLinks['emails'][number];

/** Writes what differs. @param links by the ids of threads */
export async function writeThreadLinks(
  trx: Transaction<Database>,
  links: ReadonlyMap<string, Link>,
): Promise<void> {
  await sql`
    update email_threads r set customer_id = l.customer_id, customer_source = l.customer_source,
      company_id = l.company_id, company_source = l.company_source
    from ${linkRows(links)} where ${DIFFERS}`.execute(trx);
}

/** Writes what differs. @param links by the ids of emails */
export async function writeEmailLinks(
  trx: Transaction<Database>,
  links: ReadonlyMap<string, Link>,
): Promise<void> {
  await sql`
    update emails r set customer_id = l.customer_id, customer_source = l.customer_source,
      company_id = l.company_id, company_source = l.company_source
    from ${linkRows(links)} where ${DIFFERS}`.execute(trx);
}

function linkRows(links: ReadonlyMap<string, Link>): RawBuilder<unknown> {
  const values = [...links.values()];
  return sql`unnest(
      ${[...links.keys()]}::uuid[], ${values.map((link) => link.customerId)}::uuid[],
      ${values.map((link) => link.customerSource)}::text[], ${values.map((link) => link.companyId)}::uuid[],
      ${values.map((link) => link.companySource)}::text[]
    ) as l (id, customer_id, customer_source, company_id, company_source)`;
}

const DIFFERS = sql.raw(`r.id = l.id and (r.customer_id, r.customer_source, r.company_id, r.company_source)
  is distinct from (l.customer_id, l.customer_source, l.company_id, l.company_source)`);

/** Gives threads the links of these emails, where each is the only one of its thread. Returns the ids of those threads. */
export async function linkThreadsLikeFirst(
  trx: Transaction<Database>,
  emailIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    update email_threads t set customer_id = e.customer_id,
      customer_source = nullif(e.customer_source, 'ambiguous'),
      company_id = e.company_id, company_source = e.company_source
    from emails e
    where e.id = any (${[...emailIds]}::uuid[]) and t.id = e.thread_id
      and not exists (select from emails other where other.thread_id = t.id and other.id <> e.id)
    returning t.id`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/**
 * What a send named for the thread stays known when that send does not come along: the first email of the new thread that
 * is no stranger's takes its place. What rules say is worked out anew by settleCustomers.
 */
export async function inheritCustomer(trx: Transaction<Database>, from: string, to: string): Promise<void> {
  const heir = sql`(
      select id from emails where thread_id = ${to} and not new_participant and not own_customer
      order by created_at, id limit 1
    )`;
  await sql`
    update emails set customer_id = t.customer_id, customer_source = 'explicit'
    from (select customer_id from email_threads where id = ${from} and customer_source = 'explicit') t
    where emails.id = ${heir}
      and not exists (select from emails where thread_id = ${to} and customer_source = 'explicit')`.execute(
    trx,
  );
  await sql`
    update emails set company_id = t.company_id, company_source = 'explicit'
    from (select company_id from email_threads where id = ${from} and company_source = 'explicit') t
    where emails.id = ${heir}
      and not exists (select from emails where thread_id = ${to} and company_source = 'explicit')`.execute(
    trx,
  );
}

/**
 * As a part of a statement: marks emails that were recorded while the rules were being changed.
 *
 * @param source a query with the column id
 */
export const markToRelink = (source: string): string => `
  insert into customer_relinks (email_id) ${source} on conflict do nothing`;

/** One email of each thread stands for it: threads may end by a merge, emails stay. */
export async function markThreads(trx: Transaction<Database>, threadIds: readonly string[]): Promise<void> {
  await sql`
    with given as (select ${[...threadIds]}::uuid[] as ids)
    ${sql.raw(
      markToRelink(`select distinct on (e.thread_id) e.id from given, emails e
        where e.thread_id = any (given.ids) order by e.thread_id, e.id`),
    )}`.execute(trx);
}

/** Locks and returns some marked emails that no other transaction has locked. */
export async function takeMarked(trx: Transaction<Database>, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ email_id: string }>`
    select email_id from customer_relinks order by email_id limit ${limit} for update skip locked`.execute(
    trx,
  );
  return rows.map(({ email_id }) => email_id);
}

export async function removeMarks(trx: Transaction<Database>, emailIds: readonly string[]): Promise<void> {
  await sql`delete from customer_relinks where email_id = any (${[...emailIds]}::uuid[])`.execute(trx);
}
