/**
 * Works out the customers and companies of whole threads anew (core/customer/link-thread.ts) and writes what differs.
 * To be called after any change of the rules, of a thread's emails, or of what these name.
 */
import { sql, type Transaction } from 'kysely';
import { linkEmails, type LinkedMail, type ThreadLinks } from '../../../core/customer/link-thread.ts';
import {
  domainRulesOf,
  matchAddress,
  matchAll,
  type Claims,
  type Match,
} from '../../../core/customer/match.ts';
import type { Relinked } from '../../../app/customers/customer-ports.ts';
import type { Database } from '../db/database.ts';
import { counterparties } from './match-customer.ts';
import { tryToShareRules } from './rules-lock.ts';

/** Threads that are read and written at once; bounds the memory of a change that concerns very many. */
const CHUNK = 2000;

/**
 * For transactions that change threads: their rows are to be locked already, in the order of their ids. When rules are
 * being changed at this moment, the threads are worked out once more after that.
 */
export async function settleCustomers(
  trx: Transaction<Database>,
  threadIds: readonly string[],
): Promise<void> {
  if (threadIds.length === 0) return;
  if (!(await tryToShareRules(trx))) await markThreads(trx, threadIds);
  await settleLocked(trx, threadIds);
}

/** To be called after recording emails that decide the customer of their thread. */
export async function settleCustomersOf(
  trx: Transaction<Database>,
  emails: readonly { readonly id: string; readonly threadId: string }[],
): Promise<void> {
  if (emails.length === 0) return;
  // Nearly always each is the first of its thread, which then has the same link.
  const { rows } = await sql<{ id: string }>`
    update email_threads t set customer_id = e.customer_id,
      customer_source = nullif(e.customer_source, 'ambiguous'),
      company_id = e.company_id, company_source = e.company_source
    from emails e
    where e.id = any (${emails.map(({ id }) => id)}::uuid[]) and t.id = e.thread_id
      and not exists (select from emails other where other.thread_id = t.id and other.id <> e.id)
    returning t.id`.execute(trx);
  const settled = new Set(rows.map(({ id }) => id));
  const left = new Set(emails.map(({ threadId }) => threadId).filter((id) => !settled.has(id)));
  await settleCustomers(trx, [...left].sort());
}

/** To be called before changing what decides the customer of the email's thread. */
export async function lockThreadOf(trx: Transaction<Database>, emailId: string): Promise<void> {
  await sql`
    select from email_threads where id = (select thread_id from emails where id = ${emailId})
    for no key update`.execute(trx);
}

/** Locks the threads that still exist first. The caller holds the lock of the rules. */
export async function lockAndSettle(
  trx: Transaction<Database>,
  threadIds: readonly string[],
): Promise<Relinked> {
  const { rows } = await sql<{ id: string }>`
    select id from email_threads where id = any (${threadIds}::uuid[]) order by id for no key update`.execute(
    trx,
  );
  return settleLocked(
    trx,
    rows.map(({ id }) => id),
  );
}

async function settleLocked(trx: Transaction<Database>, threadIds: readonly string[]): Promise<Relinked> {
  const total = { linked: 0, moved: 0, unlinked: 0 };
  for (let start = 0; start < threadIds.length; start += CHUNK) {
    const chunk = await settleChunk(trx, threadIds.slice(start, start + CHUNK));
    total.linked += chunk.linked;
    total.moved += chunk.moved;
    total.unlinked += chunk.unlinked;
  }
  return total;
}

/** One email of each thread stands for it: threads may end by a merge, emails stay. */
async function markThreads(trx: Transaction<Database>, threadIds: readonly string[]): Promise<void> {
  await sql`
    insert into customer_relinks (email_id)
    select distinct on (thread_id) id from emails where thread_id = any (${threadIds}::uuid[]) order by thread_id, id
    on conflict do nothing`.execute(trx);
}

interface MailRow {
  id: string;
  thread_id: string;
  customer_id: string | null;
  named_customer_id: string | null;
  named_company_id: string | null;
  is_stranger: boolean;
  counterparties: string[];
}

async function settleChunk(trx: Transaction<Database>, threadIds: readonly string[]): Promise<Relinked> {
  const { rows: mails } = await sql<MailRow>`
    select e.id, e.thread_id, e.customer_id, e.new_participant or e.own_customer as is_stranger,
      case when e.customer_source = 'explicit' then e.customer_id end as named_customer_id,
      case when e.company_source = 'explicit' then e.company_id end as named_company_id,
      ${sql.raw(counterparties('e.direction', 'e.from_address', '(e.to_addresses || e.cc_addresses || e.bcc_addresses)'))}
        as counterparties
    from emails e where e.thread_id = any (${threadIds}::uuid[])
    order by e.thread_id, e.created_at, e.id`.execute(trx);
  const matches = await readMatches(trx, new Set(mails.flatMap((mail) => mail.counterparties)));
  const linked = mails.map((mail) => toLinkedMail(mail, matches));
  const companies = await readCompanies(trx, linked);
  const companyOf = (customerId: string) => companies.get(customerId) ?? null;

  const links = new Map<string, ThreadLinks['thread']>();
  const emailLinks: ThreadLinks['emails'][number][] = [];
  for (let start = 0; start < mails.length;) {
    const threadId = mails[start]?.thread_id ?? '';
    let end = start;
    while (mails[end]?.thread_id === threadId) end += 1;
    const result = linkEmails(linked.slice(start, end), companyOf);
    links.set(threadId, result.thread);
    emailLinks.push(...result.emails);
    start = end;
  }
  await writeThreads(trx, links);
  await writeEmails(
    trx,
    mails.map(({ id }) => id),
    emailLinks,
  );
  return countChanges(mails, emailLinks);
}

function toLinkedMail(mail: MailRow, matches: ReadonlyMap<string, Match>): LinkedMail {
  return {
    id: mail.id,
    namedCustomerId: mail.named_customer_id,
    namedCompanyId: mail.named_company_id,
    isStranger: mail.is_stranger,
    match: matchAll(mail.counterparties.map((address) => matches.get(address) ?? { kind: 'none' })),
  };
}

async function readMatches(
  trx: Transaction<Database>,
  addresses: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Match>> {
  const domains = new Set([...addresses].flatMap(domainRulesOf));
  const { rows } = await sql<{ key: string; kind: 'registered' | 'learned' | 'domain'; customers: string[] }>`
    select address as key, origin as kind, array_agg(customer_id::text) as customers
    from customer_addresses where address = any (${[...addresses]}::text[]) and origin <> 'removed'
    group by address, origin
    union all
    select domain, 'domain', array_agg(customer_id::text)
    from customer_domains where domain = any (${[...domains]}::text[])
    group by domain`.execute(trx);
  const of = (wanted: string) =>
    new Map(rows.filter(({ kind }) => kind === wanted).map(({ key, customers }) => [key, customers]));
  const [registered, learned, byDomain] = [of('registered'), of('learned'), of('domain')];
  const claims: Claims = {
    registered: (address) => registered.get(address) ?? [],
    learned: (address) => learned.get(address) ?? [],
    domain: (rule) => byDomain.get(rule) ?? [],
  };
  return new Map([...addresses].map((address) => [address, matchAddress(address, claims)]));
}

async function readCompanies(
  trx: Transaction<Database>,
  mails: readonly LinkedMail[],
): Promise<ReadonlyMap<string, string>> {
  const customers = new Set(
    mails.flatMap(({ namedCustomerId, match }) => [
      ...(namedCustomerId === null ? [] : [namedCustomerId]),
      ...(match.kind === 'customer' ? [match.customerId] : []),
    ]),
  );
  if (customers.size === 0) return new Map();
  const rows = await trx
    .selectFrom('customer_companies')
    .selectAll()
    .where('customer_id', '=', sql<string>`any (${[...customers]}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.customer_id, row.company_id]));
}

async function writeThreads(
  trx: Transaction<Database>,
  links: ReadonlyMap<string, ThreadLinks['thread']>,
): Promise<void> {
  const values = [...links.values()];
  await sql`
    update email_threads t set customer_id = l.customer_id, customer_source = l.customer_source,
      company_id = l.company_id, company_source = l.company_source
    from unnest(
      ${[...links.keys()]}::uuid[], ${values.map((link) => link.customerId)}::uuid[],
      ${values.map((link) => link.customerSource)}::text[], ${values.map((link) => link.companyId)}::uuid[],
      ${values.map((link) => link.companySource)}::text[]
    ) as l (id, customer_id, customer_source, company_id, company_source)
    where t.id = l.id and (t.customer_id, t.customer_source, t.company_id, t.company_source)
      is distinct from (l.customer_id, l.customer_source, l.company_id, l.company_source)`.execute(trx);
}

async function writeEmails(
  trx: Transaction<Database>,
  ids: readonly string[],
  links: ThreadLinks['emails'],
): Promise<void> {
  await sql`
    update emails e set customer_id = l.customer_id, customer_source = l.customer_source,
      company_id = l.company_id, company_source = l.company_source
    from unnest(
      ${ids}::uuid[], ${links.map((link) => link.customerId)}::uuid[],
      ${links.map((link) => link.customerSource)}::text[], ${links.map((link) => link.companyId)}::uuid[],
      ${links.map((link) => link.companySource)}::text[]
    ) as l (id, customer_id, customer_source, company_id, company_source)
    where e.id = l.id and (e.customer_id, e.customer_source, e.company_id, e.company_source)
      is distinct from (l.customer_id, l.customer_source, l.company_id, l.company_source)`.execute(trx);
}

function countChanges(mails: readonly MailRow[], links: ThreadLinks['emails']): Relinked {
  const changed = mails
    .map((mail, index) => ({ before: mail.customer_id, after: links[index]?.customerId ?? null }))
    .filter(({ before, after }) => before !== after);
  const linked = changed.filter(({ before }) => before === null).length;
  const unlinked = changed.filter(({ after }) => after === null).length;
  return { linked, unlinked, moved: changed.length - linked - unlinked };
}
