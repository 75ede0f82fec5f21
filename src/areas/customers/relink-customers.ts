/**
 * Recomputes the customers and companies of whole threads (core/customer/link-emails.ts) and writes the ones that differ. Must be
 * called after any change of the rules, of a thread's emails, or of the customers and companies that these name.
 */
import { linkEmails, type LinkedMail, type ThreadLinks } from '../../core/customer/link-emails.ts';
import { domainRulesOf, matchAddress, matchAll, type Claims, type Match } from '../../core/customer/match.ts';
import type { Relinked } from './customer-ports.ts';
import { lockThreadRows } from '../emails/thread-rows.ts';
import { linkThreadsLikeFirst, markThreads, writeEmailLinks, writeThreadLinks } from './customer-links.ts';
import { counterparties } from './match-customer.ts';
import { tryToShareRules } from './rules-lock.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** Threads that are read and written at once; bounds the memory of a change that affects very many. */
const CHUNK = 2000;

/**
 * For transactions that change threads: they must already have locked the threads' rows, in the order of their ids. If rules are being
 * changed at this moment, the threads are worked out once more afterwards.
 */
export async function relinkCustomers(trx: Executor, threadIds: readonly string[]): Promise<void> {
  if (threadIds.length === 0) return;
  if (!(await tryToShareRules(trx))) await markThreads(trx, threadIds);
  await relinkLocked(trx, threadIds);
}

/** Must be called after recording emails that decide the customer of their thread. */
export async function relinkCustomersOf(
  trx: Executor,
  emails: readonly { readonly id: string; readonly threadId: string }[],
): Promise<void> {
  if (emails.length === 0) return;
  // Nearly always each email is the first of its thread, which then has the same link.
  const linked = await linkThreadsLikeFirst(
    trx,
    emails.map(({ id }) => id),
  );
  const left = new Set(emails.map(({ threadId }) => threadId).filter((id) => !linked.has(id)));
  await relinkCustomers(trx, [...left].sort());
}

/** Locks the threads that still exist first. The caller holds the lock of the rules. */
export async function lockAndRelink(trx: Executor, threadIds: readonly string[]): Promise<Relinked> {
  return relinkLocked(trx, await lockThreadRows(trx, threadIds));
}

async function relinkLocked(trx: Executor, threadIds: readonly string[]): Promise<Relinked> {
  const total = { linked: 0, moved: 0, unlinked: 0 };
  for (let start = 0; start < threadIds.length; start += CHUNK) {
    const chunk = await relinkChunk(trx, threadIds.slice(start, start + CHUNK));
    total.linked += chunk.linked;
    total.moved += chunk.moved;
    total.unlinked += chunk.unlinked;
  }
  return total;
}

type Link = ThreadLinks['emails'][number];

type MailRow = RowOf<typeof READ_MAILS>;

async function relinkChunk(trx: Executor, threadIds: readonly string[]): Promise<Relinked> {
  const mails = await run(trx, READ_MAILS, { threadIds });
  const matchOf = await readMatches(trx, new Set(mails.flatMap((mail) => mail.counterparties)));
  const linked = mails.map((mail) => toLinkedMail(mail, matchOf));
  const companies = await readCompanies(trx, linked, mails);
  const companyOf = (customerId: string) => companies.get(customerId) ?? null;

  const links = new Map<string, ThreadLinks['thread']>();
  const emailLinks: Link[] = [];
  for (let start = 0; start < mails.length;) {
    const first = mails[start] as MailRow;
    const threadId = first.thread_id;
    let end = start;
    while (mails[end]?.thread_id === threadId) end += 1;
    const result = linkEmails(linked.slice(start, end), companyOf, {
      customerId: first.chosen_customer_id,
      companyId: first.chosen_company_id,
    });
    links.set(threadId, result.thread);
    emailLinks.push(...result.emails);
    start = end;
  }
  await writeThreadLinks(trx, links);
  await writeEmailLinks(trx, new Map(mails.map(({ id }, index) => [id, emailLinks[index] as Link])));
  return countChanges(mails, emailLinks);
}

type MatchOf = (address: string, accountId: string) => Match;

function toLinkedMail(mail: MailRow, matchOf: MatchOf): LinkedMail {
  return {
    id: mail.id,
    namedCustomerId: mail.named_customer_id,
    namedCompanyId: mail.named_company_id,
    isStranger: mail.is_stranger,
    match: matchAll(mail.counterparties.map((address) => matchOf(address, mail.account_id))),
  };
}

/** The matches of these addresses: an address that was learned for one account counts in that one alone. */
async function readMatches(trx: Executor, addresses: ReadonlySet<string>): Promise<MatchOf> {
  const domains = new Set([...addresses].flatMap(domainRulesOf));
  const rows = await run(trx, READ_CLAIMS, { addresses: [...addresses], domains: [...domains] });
  const of = (wanted: string) =>
    new Map(rows.filter(({ kind }) => kind === wanted).map(({ key, customers }) => [key, customers]));
  const [registered, byDomain] = [of('registered'), of('domain')];
  const learned = new Map<string, Set<string>>();
  for (const { key, kind, account_id: accountId, customers } of rows) {
    if (kind !== 'learned') continue;
    const place = `${accountId} ${key}`;
    learned.set(place, new Set([...(learned.get(place) ?? []), ...customers]));
  }
  const claimsIn = (accountId: string): Claims => ({
    registered: (address) => registered.get(address) ?? [],
    learned: (address) => [
      ...new Set(['', accountId].flatMap((account) => [...(learned.get(`${account} ${address}`) ?? [])])),
    ],
    domain: (rule) => byDomain.get(rule) ?? [],
  });
  return (address, accountId) => matchAddress(address, claimsIn(accountId));
}

async function readCompanies(
  trx: Executor,
  mails: readonly LinkedMail[],
  threads: readonly Pick<MailRow, 'chosen_customer_id'>[],
): Promise<ReadonlyMap<string, string>> {
  const customers = new Set([
    ...threads.flatMap(({ chosen_customer_id }) => chosen_customer_id ?? []),
    ...mails.flatMap(({ namedCustomerId, match }) => [
      ...(namedCustomerId === null ? [] : [namedCustomerId]),
      ...(match.kind === 'customer' ? [match.customerId] : []),
    ]),
  ]);
  if (customers.size === 0) return new Map();
  const rows = await run(trx, READ_COMPANIES, { customers: [...customers] });
  return new Map(rows.map((row) => [row.customer_id, row.company_id]));
}

function countChanges(mails: readonly MailRow[], links: ThreadLinks['emails']): Relinked {
  const changed = mails
    .map((mail, index) => ({ before: mail.customer_id, after: links[index]?.customerId ?? null }))
    .filter(({ before, after }) => before !== after);
  const linked = changed.filter(({ before }) => before === null).length;
  const unlinked = changed.filter(({ after }) => after === null).length;
  return { linked, unlinked, moved: changed.length - linked - unlinked };
}

const READ_MAILS = statement(
  'customers-of-threads',
  `select e.id, e.thread_id, e.account_id::text as account_id, e.customer_id, e.new_participant or e.own_customer as is_stranger,
      case when e.customer_source = 'explicit' then e.customer_id end as named_customer_id,
      case when e.company_source = 'explicit' then e.company_id end as named_company_id,
      ${counterparties('e.direction', 'e.from_address', '(e.to_addresses || e.cc_addresses || e.bcc_addresses)')}
        as counterparties,
      t.chosen_customer_id, t.chosen_company_id
    from emails e join email_threads t on t.id = e.thread_id where e.thread_id = any ($threadIds::uuid[])
    order by e.thread_id, e.created_at, e.id`,
).narrow<{ account_id: string; is_stranger: boolean; counterparties: string[] }>();

const READ_CLAIMS = statement(
  'claims-of-addresses',
  `select address as key, origin as kind, account_id, array_agg(customer_id::text) as customers
    from customer_addresses where address = any ($addresses::text[]) and origin <> 'removed'
    group by address, origin, account_id
    union all
    select domain, 'domain', '', array_agg(customer_id::text)
    from customer_domains where domain = any ($domains::text[])
    group by domain`,
).narrow<{
  key: string;
  kind: 'registered' | 'learned' | 'domain';
  account_id: string;
  customers: string[];
}>();

const READ_COMPANIES = statement(
  'companies-of-customers',
  'select customer_id, company_id from customer_companies where customer_id = any ($customers::uuid[])',
);
