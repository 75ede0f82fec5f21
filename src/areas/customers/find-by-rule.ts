/** Finds the mail that rules are about, by the words of its counterparties (`counterparty_words` in the schema). */
import { domainOf, isWildcard } from '../../core/customer/rules.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** The expression of the index `emails_counterparty`, for `emails e`. */
export const COUNTERPARTY_WORDS =
  'counterparty_words(e.direction, e.from_address, e.to_addresses || e.cc_addresses || e.bcc_addresses)';

/** The query for an address, as the text of a tsquery. */
export function addressWords(address: string): string {
  // As it is written in JSON, where a quote or a backslash of a local part is escaped.
  return quoted(reversed(JSON.stringify(address).slice(1, -1)));
}

/** The query for the addresses of a domain rule. */
export function domainWords(rule: string): string {
  return `${quoted(reversed(`${isWildcard(rule) ? '.' : '@'}${domainOf(rule)}`))}:*`;
}

/**
 * Threads with mail that the rules may apply to. A thread whose customer a send named is included only for emails of strangers, which take
 * their customer from the rules for their own address.
 */
export async function threadsUnder(
  trx: Executor,
  { addresses, domains }: { readonly addresses: readonly string[]; readonly domains: readonly string[] },
): Promise<readonly string[]> {
  const words = [...addresses.map(addressWords), ...domains.map(domainWords)];
  if (words.length === 0) return [];
  const rows = await run(trx, THREADS_UNDER, { words });
  return rows.map(({ id }) => id);
}

/** Threads with mail of the customer. */
export async function threadsOfCustomer(trx: Executor, customerId: string): Promise<readonly string[]> {
  const rows = await run(trx, THREADS_OF_CUSTOMER, { customerId });
  return rows.map((row) => row.thread_id);
}

const reversed = (text: string): string => [...text].reverse().join('');

const quoted = (word: string): string => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

const THREADS_UNDER = statement(
  'threads-under',
  `select distinct t.id
    from unnest($words::text[]) w
    cross join lateral (
      select e.thread_id, e.new_participant or e.own_customer as is_stranger
      from emails e where ${COUNTERPARTY_WORDS} @@ w::tsquery
    ) e
    join email_threads t on t.id = e.thread_id
    where t.customer_source is distinct from 'explicit' or e.is_stranger`,
);

const THREADS_OF_CUSTOMER = statement(
  'threads-of-customer',
  'select distinct thread_id from emails where customer_id = $customerId',
);
