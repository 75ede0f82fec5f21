/** Addresses as rules: registered by hand, or learned from sends that named a customer. Only this module writes `customer_addresses`. */
import { run, statement, type Executor } from '../../platform/db/statement.ts';

/**
 * As a part of a statement: sends that were accepted teach the customers of their recipients, within the accounts of the key that sent them.
 * Must not run while rules are being changed.
 *
 * @param source a query with the columns customer_id, to_addresses, author_key
 */
export const learnAddresses = (source: string): string => `
  insert into customer_addresses (address, customer_id, account_id)
  select distinct l.address, l.customer_id, l.account_id
  from (${source}) s, taught_addresses(s.customer_id, s.to_addresses, s.author_key) l
  -- Sorted, so that two sends that teach the same never wait for each other in a circle.
  order by 1, 2, 3
  on conflict do nothing`;

/** Learns from recorded sends. The caller shares the lock of the rules. */
export async function learnFrom(executor: Executor, emailIds: readonly string[]): Promise<void> {
  await run(executor, LEARN, { emailIds });
}

const LEARN = statement(
  'learn-addresses',
  learnAddresses(`select customer_id, to_addresses, author_key from emails
    where id = any ($emailIds::uuid[]) and customer_source = 'explicit' and direction = 'outbound' and state = 'sent'`),
);

/** Some of the addresses that were learned and not yet applied to past mail; they count as applied from now on. */
export async function takeLearned(executor: Executor, limit: number): Promise<readonly string[]> {
  const rows = await run(executor, TAKE_LEARNED, { limit });
  return [...new Set(rows.map(({ address }) => address))];
}

const TAKE_LEARNED = statement(
  'take-learned-addresses',
  `update customer_addresses set is_applied = true
  where (address, customer_id) in (
    select address, customer_id from customer_addresses where not is_applied order by created_at limit $limit
  )
  returning address`,
);

/** Our own addresses are no customer's, whatever a send named: it taught them with its other recipients. */
export async function unlearnOwn(executor: Executor, addresses: readonly string[]): Promise<void> {
  await run(executor, UNLEARN_OWN, { addresses });
}

const UNLEARN_OWN = statement(
  'unlearn-own-addresses',
  `delete from customer_addresses where address = any ($addresses::text[]) and origin = 'learned'`,
);

/**
 * Registers these addresses and no others; what sends taught stays. An address that is registered no longer counts again as sends taught it.
 * Returns the addresses whose rules have changed.
 */
export async function replaceAddresses(
  executor: Executor,
  customerId: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const dropped = (await run(executor, DROP, { customerId, addresses })).map(({ address }) => address);
  if (dropped.length > 0) await run(executor, LEARN_AGAIN, { customerId, addresses: dropped });
  const added = await registerAddresses(executor, customerId, addresses);
  return [...new Set([...dropped, ...added])];
}

/** Registers further addresses. Returns those whose rules have changed. */
export async function registerAddresses(
  executor: Executor,
  customerId: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  return (await run(executor, REGISTER, { customerId, addresses })).map(({ address }) => address);
}

/** The customer has the address no longer, registered or learned, and sends do not teach it again. */
export async function removeAddress(
  executor: Executor,
  customerId: string,
  address: string,
): Promise<readonly string[]> {
  return (await run(executor, REMOVE, { customerId, address })).map((row) => row.address);
}

const DROP = statement(
  'drop-registered-addresses',
  `delete from customer_addresses
  where customer_id = $customerId and origin = 'registered' and address <> all ($addresses::text[])
  returning address`,
);

const LEARN_AGAIN = statement(
  'learn-addresses-again',
  `insert into customer_addresses (address, customer_id, account_id, is_applied)
  select distinct l.address, l.customer_id, l.account_id, true
  from emails e, taught_addresses(e.customer_id, e.to_addresses, e.author_key) l
  where e.customer_id = $customerId and e.customer_source = 'explicit' and e.direction = 'outbound' and e.state = 'sent'
    and l.address = any ($addresses::text[])
  order by 1, 2, 3
  on conflict do nothing`,
);

const REGISTER = statement(
  'register-customer-addresses',
  `insert into customer_addresses as c (address, customer_id, origin, is_applied)
  select address, $customerId, 'registered', true from unnest($addresses::text[]) address
  order by 1
  on conflict (address, customer_id, account_id) do update set origin = 'registered', is_applied = true
  where c.origin <> 'registered'
  returning address`,
);

const REMOVE = statement(
  'remove-customer-address',
  `with of_accounts as (
    delete from customer_addresses
    where customer_id = $customerId and address = $address and account_id <> ''
    returning address
  ), removed as (
    update customer_addresses set origin = 'removed', is_applied = true
    where customer_id = $customerId and address = $address and account_id = '' and origin <> 'removed'
    returning address
  ), removed_everywhere as (
    insert into customer_addresses (address, customer_id, origin, is_applied)
    select distinct address, $customerId::uuid, 'removed', true from of_accounts
    on conflict do nothing
  )
  select address from of_accounts union select address from removed`,
).narrow<{ address: string }>();

export interface Learned {
  readonly address: string;
  readonly customerId: string;
  /** Empty: all. */
  readonly accountId: string;
}

/** Addresses that only these emails taught: without them no send names the customer for the address. */
export async function learnedOnlyFrom(
  executor: Executor,
  emailIds: readonly string[],
): Promise<readonly Learned[]> {
  const rows = await run(executor, LEARNED_ONLY_FROM, { emailIds });
  return rows.map(({ address, customer_id, account_id }) => ({
    address,
    customerId: customer_id,
    accountId: account_id,
  }));
}

const LEARNED_ONLY_FROM = statement(
  'learned-only-from',
  `select distinct c.address, c.customer_id, c.account_id
  from emails e cross join lateral jsonb_array_elements(e.to_addresses) a
  join customer_addresses c on c.address = lower((a ->> 'address') collate "C") and c.customer_id = e.customer_id
    and c.origin = 'learned'
  where e.id = any ($emailIds::uuid[]) and e.customer_source = 'explicit' and e.direction = 'outbound'
    and not exists (
      select from emails o
      where o.customer_id = e.customer_id and o.direction = 'outbound' and o.customer_source = 'explicit'
        and o.state = 'sent' and o.id <> all ($emailIds::uuid[]) and c.account_id = any (taught_accounts(o.author_key))
        and exists (
          select from jsonb_array_elements(o.to_addresses) b where lower((b ->> 'address') collate "C") = c.address
        )
    )`,
);

/** The caller holds the lock of the rules. */
export async function unlearn(executor: Executor, learned: readonly Learned[]): Promise<void> {
  await run(executor, UNLEARN, {
    addresses: learned.map(({ address }) => address),
    customerIds: learned.map(({ customerId }) => customerId),
    accountIds: learned.map(({ accountId }) => accountId),
  });
}

const UNLEARN = statement(
  'unlearn-addresses',
  `delete from customer_addresses c
  using unnest($addresses::text[], $customerIds::uuid[], $accountIds::text[]) n (address, customer_id, account_id)
  where c.address = n.address and c.customer_id = n.customer_id and c.account_id = n.account_id and c.origin = 'learned'`,
);

/** All rules about the addresses, and all addresses of the customer. The caller holds the lock of the rules. */
export async function eraseAddresses(
  executor: Executor,
  addresses: readonly string[],
  customerId: string | null,
): Promise<readonly string[]> {
  return (await run(executor, ERASE, { addresses, customerId })).map(({ address }) => address);
}

const ERASE = statement(
  'erase-customer-addresses',
  `delete from customer_addresses where address = any ($addresses::text[]) or customer_id = $customerId::uuid
  returning address`,
);
