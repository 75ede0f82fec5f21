/** Addresses as rules: registered by hand, or learned from sends that named a customer. Alone writes `customer_addresses`. */
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/database.ts';

/**
 * As a part of a statement: sends teach whose their recipients are. Not while rules are being changed.
 *
 * @param source a query with the columns customer_id, to_addresses
 */
export const learnAddresses = (source: string): string => `
  insert into customer_addresses (address, customer_id)
  select distinct lower((a ->> 'address') collate "C"), s.customer_id
  from (${source}) s, jsonb_array_elements(s.to_addresses) a
  -- Sorted, so that two sends that teach the same never wait for each other in a circle.
  order by 1, 2
  on conflict do nothing`;

/** From recorded sends. The caller shares the lock of the rules. */
export async function learnFrom(trx: Transaction<Database>, emailIds: readonly string[]): Promise<void> {
  await sql`
    with given as (select ${[...emailIds]}::uuid[] as ids)
    ${sql.raw(
      learnAddresses(`select e.customer_id, e.to_addresses from given, emails e
        where e.id = any (given.ids) and e.customer_source = 'explicit' and e.direction = 'outbound'`),
    )}`.execute(trx);
}

/** Some of those that were learned and not applied to past mail yet; they count as applied from now on. */
export async function takeLearned(trx: Transaction<Database>, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ address: string }>`
    update customer_addresses set settled = true
    where (address, customer_id) in (
      select address, customer_id from customer_addresses where not settled order by created_at limit ${limit}
    )
    returning address`.execute(trx);
  return [...new Set(rows.map(({ address }) => address))];
}

/** Returns the addresses whose rules have changed. */
export async function replaceAddresses(
  trx: Transaction<Database>,
  customerId: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ address: string }>`
    with removed as (
      update customer_addresses set origin = 'removed', settled = true
      where customer_id = ${customerId} and origin <> 'removed' and address <> all (${addresses}::text[])
      returning address
    ), registered as (
      insert into customer_addresses as c (address, customer_id, origin, settled)
      select address, ${customerId}, 'registered', true from unnest(${addresses}::text[]) address
      on conflict (address, customer_id) do update set origin = 'registered', settled = true
      where c.origin <> 'registered'
      returning address
    )
    select address from removed union select address from registered`.execute(trx);
  return rows.map(({ address }) => address);
}
