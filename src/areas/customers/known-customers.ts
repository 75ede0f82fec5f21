/**
 * The customers that lists show, with their names, and the accounts that have mail of them. Only this module writes `customers` and
 * `customer_accounts`. Recording a sent or received email does not: the worker that makes the email searchable records its customer here.
 */
import type { CustomerName } from '../../core/customer/customer-name.ts';
import { formatWords } from '../../core/search/prefix-query.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/** @param name undefined: unchanged */
export async function writeCustomer(
  executor: Executor,
  customerId: string,
  name: CustomerName | null | undefined,
): Promise<void> {
  if (name === undefined) {
    await run(executor, KNOW, { customerIds: [customerId] });
    return;
  }
  await run(executor, WRITE, {
    customerId,
    name: name?.name ?? null,
    key: name?.key ?? '',
    words: formatWords(name?.words ?? []),
  });
}

/** Records the customers of these emails, even if the emails have been another customer's before. */
export async function knowCustomersOf(executor: Executor, emailIds: readonly string[]): Promise<void> {
  const found = await run(executor, CUSTOMERS_OF, { emailIds });
  if (found.length === 0) return;
  const customerIds = found.map(({ customer_id }) => customer_id);
  await run(executor, KNOW, { customerIds });
  await run(executor, KNOW_ACCOUNTS, { customerIds, accountIds: found.map(({ account_id }) => account_id) });
}

/** Returns true if there was one with a name. */
export async function eraseCustomer(executor: Executor, customerId: string): Promise<boolean> {
  await run(executor, ERASE_ACCOUNTS, { customerId });
  const [erased] = await run(executor, ERASE, { customerId });
  return erased?.had_name === true;
}

const WRITE = statement(
  'write-customer',
  `insert into customers (customer_id, name, name_key, name_words) values ($customerId, $name::text, $key, $words::tsvector)
  on conflict (customer_id) do update set name = excluded.name, name_key = excluded.name_key, name_words = excluded.name_words`,
);

// In one order, so that two transactions never wait for each other in a circle.
const KNOW = statement(
  'know-customers',
  `insert into customers (customer_id) select distinct c from unnest($customerIds::uuid[]) c order by c on conflict do nothing`,
);

const KNOW_ACCOUNTS = statement(
  'know-accounts-of-customers',
  `insert into customer_accounts (customer_id, account_id)
  select distinct c, a from unnest($customerIds::uuid[], $accountIds::text[]) n (c, a) order by c, a
  on conflict do nothing`,
);

const CUSTOMERS_OF = statement(
  'customers-of-emails',
  `select distinct customer_id, account_id::text as account_id from emails
  where id = any ($emailIds::uuid[]) and customer_id is not null`,
).narrow<{ customer_id: string; account_id: string }>();

const ERASE = statement(
  'erase-customer',
  'delete from customers where customer_id = $customerId returning name is not null as had_name',
).narrow<{ had_name: boolean }>();

const ERASE_ACCOUNTS = statement(
  'erase-accounts-of-customer',
  'delete from customer_accounts where customer_id = $customerId',
);
