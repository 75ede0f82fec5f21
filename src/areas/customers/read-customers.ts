/** Reads one customer with all its data, and the list of customers. */
import {
  MAX_COUNTED,
  type CustomerListing,
  type CustomerPlace,
  type CustomerRecord,
  type CustomersQuery,
} from './customer-ports.ts';
import { run, statements, type Executor } from '../../platform/db/statement.ts';
import { LISTED } from '../emails/listed.ts';
import { registrationColumns, toRegistration, type RegistrationColumns } from './registration.ts';

/** Addresses that a customer record shows; GET /api/customer/{customerId}/addresses returns all. */
const MAX_SHOWN_ADDRESSES = 200;

/** Customers that each of the ways of a search finds at most: more would not help the person who types, and all of them are sorted. */
const MAX_FOUND = 1000;

/** The last character of the collation: sorts after every name with the same beginning. */
const LAST_CHARACTER = '\u{10FFFF}';

export async function readCustomer(
  pool: Executor,
  customerId: string,
  within: readonly string[] | null,
): Promise<CustomerRecord> {
  const [row] = await run(pool, RECORD.of({ ofAccounts: within !== null }), {
    customerId,
    limit: MAX_SHOWN_ADDRESSES + 1,
    accountIds: within === null ? null : [...within],
  });
  if (row === undefined) throw new Error('a record without a row');
  const registration = toRegistration(row, MAX_SHOWN_ADDRESSES);
  return {
    ...registration,
    // Such a caller sees no rule, and must not take that for none.
    isComplete: registration.isComplete && within === null,
    counts: {
      emailsInbound: row.emails_inbound,
      emailsOutbound: row.emails_outbound,
      threadsOpen: row.threads_open,
      threadsDone: row.threads_done,
    },
    firstActivityAt: row.first_activity_at,
    lastActivityAt: row.last_activity_at,
  };
}

export async function listCustomers(
  pool: Executor,
  { search, within, limit, after }: CustomersQuery,
): Promise<readonly (CustomerListing & CustomerPlace)[]> {
  const rows = await run(
    pool,
    LIST.of({ isSearched: search !== null, ofAccounts: within !== null, isNext: after !== null }),
    {
      words: search?.words ?? null,
      from: search?.beginning ?? null,
      to: search === null ? null : `${search.beginning}${LAST_CHARACTER}`,
      accountIds: within === null ? null : [...within],
      afterUnnamed: after?.isUnnamed ?? null,
      afterKey: after?.nameKey ?? null,
      afterId: after?.customerId ?? null,
      limit,
    },
  );
  return rows.map((row) => ({
    customerId: row.customer_id,
    name: row.name,
    companyId: row.company_id,
    lastActivityAt: row.last_activity_at,
    isUnnamed: row.is_unnamed,
    nameKey: row.name_key,
  }));
}

/** For emails `e` and summaries `s`. */
const ofAccountsOnly = (ofAccounts: boolean, row: string) =>
  ofAccounts ? `and ${row}.account_id = any ($accountIds::text[])` : '';

/** The first or newest email of a customer, by its index, where each direction is a separate range. */
function activity(customerId: string, which: 'first' | 'last', ofAccounts: boolean): string {
  const [order, choose] = which === 'first' ? ['asc', 'least'] : ['desc', 'greatest'];
  const piece = (direction: string) => `(
      select e.date from emails e
      where e.customer_id = ${customerId} and e.direction = '${direction}' and ${LISTED} and e.date <= now()
        ${ofAccountsOnly(ofAccounts, 'e')}
      order by e.date ${order}, e.id ${order} limit 1
    )`;
  return `${choose}(${piece('inbound')}, ${piece('outbound')})`;
}

const count = (from: string) => `(select count(*)::int from (select ${from} limit ${MAX_COUNTED}) n)`;

const RECORD = statements('read-customer', { ofAccounts: [false, true] }, ({ ofAccounts }) => {
  const emails = (direction: string) =>
    count(`from emails e where e.customer_id = $customerId and e.direction = '${direction}' and ${LISTED}
      ${ofAccountsOnly(ofAccounts, 'e')}`);
  const threads = (isDone: boolean) =>
    // In the terms of the index, which has the facets: 8 is done, 16 is spam.
    count(`from thread_summaries s where s.customer_id = $customerId and s.facets & ${isDone ? '8 <>' : '24 ='} 0
      ${ofAccountsOnly(ofAccounts, 's')}`);
  return `select ${registrationColumns(ofAccounts)},
    ${emails('inbound')} as emails_inbound, ${emails('outbound')} as emails_outbound,
    ${threads(false)} as threads_open, ${threads(true)} as threads_done,
    ${activity('$customerId', 'first', ofAccounts)} as first_activity_at,
    ${activity('$customerId', 'last', ofAccounts)} as last_activity_at`;
}).narrow<
  RegistrationColumns & {
    emails_inbound: number;
    emails_outbound: number;
    threads_open: number;
    threads_done: number;
    first_activity_at: Date | null;
    last_activity_at: Date | null;
  }
>();

/** A caller that may see only some accounts finds no customer by its rules, which it may not read. */
const found = (ofAccounts: boolean): string => `(
      (select customer_id from customers where name is not null and $words <> '' and name_words @@ $words::tsquery
        limit ${MAX_FOUND})${
          ofAccounts
            ? ''
            : `
      union
      (select customer_id from customer_addresses
        where address ~>=~ $from::text and address ~<~ $to::text and origin <> 'removed' order by address limit ${MAX_FOUND})
      union
      (select customer_id from customer_domains
        where ltrim(domain, '*.') ~>=~ $from::text and ltrim(domain, '*.') ~<~ $to::text order by domain limit ${MAX_FOUND})`
        }
    ) f join customers c on c.customer_id = f.customer_id`;

const LIST = statements(
  'list-customers',
  { isSearched: [false, true], ofAccounts: [false, true], isNext: [false, true] },
  ({ isSearched, ofAccounts, isNext }) => {
    const conditions = [
      ...(ofAccounts
        ? [
            `exists (select from customer_accounts a where a.customer_id = c.customer_id
              and a.account_id = any ($accountIds::text[]))`,
          ]
        : []),
      ...(isNext
        ? [
            '(c.is_unnamed, c.name_key, c.customer_id) > ($afterUnnamed::boolean, $afterKey::text collate "C", $afterId::uuid)',
          ]
        : []),
    ];
    return `select p.*, n.company_id, ${activity('p.customer_id', 'last', ofAccounts)} as last_activity_at
    from (
      select c.customer_id, c.name, c.is_unnamed, c.name_key
      from ${isSearched ? found(ofAccounts) : 'customers c'}
      ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by c.is_unnamed, c.name_key, c.customer_id limit $limit
    ) p left join customer_companies n on n.customer_id = p.customer_id
    order by p.is_unnamed, p.name_key, p.customer_id`;
  },
).narrow<{
  customer_id: string;
  name: string | null;
  is_unnamed: boolean;
  name_key: string;
  company_id: string | null;
  last_activity_at: Date | null;
}>();
