/** The registration of a customer, as a statement reads it. */
import type { AddressClaim, CustomerRegistration, DomainClaim } from './customer-ports.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';

/** @param limit number of addresses; the row has one more when more exist */
export function toRegistration(row: RegistrationRow | undefined, limit: number): CustomerRegistration {
  const addresses = row?.addresses ?? [];
  return {
    name: row?.name ?? null,
    companyId: row?.company_id ?? null,
    addresses: addresses.slice(0, limit).map(toAddressClaim),
    domains: (row?.domains ?? []).map(toDomainClaim),
    isComplete: addresses.length <= limit,
  };
}

function toAddressClaim({
  address,
  origin,
  account_ids: accountIds,
  registered,
  learned,
}: JsonOf<typeof ADDRESS>): AddressClaim {
  const byHand = registered ?? [];
  const others = origin === 'registered' || byHand.length > 0 ? byHand : (learned ?? []);
  return {
    address,
    origin,
    accountIds,
    status:
      others.length === 0 ? 'decides' : origin === 'learned' && byHand.length > 0 ? 'overruled' : 'ambiguous',
    otherCustomerIds: others,
  };
}

function toDomainClaim({ domain, others }: JsonOf<typeof DOMAIN>): DomainClaim {
  return {
    domain,
    status: others === null ? 'decides' : 'ambiguous',
    otherCustomerIds: others ?? [],
  };
}

/** Other customers that claim the same address or domain; null for none. */
const othersOf = (claims: string) => `(
  select array_agg(customer_id) from (
    select o.customer_id from ${claims} and o.customer_id <> $customerId order by o.customer_id limit 20
  ) o
)`;
/** Those with a claim in an account in which this claim counts. */
const othersOfAddress = (origin: string) =>
  othersOf(`(
    select distinct customer_id from customer_addresses
    where address = c.address and origin = '${origin}'
      and (account_id = '' or c.account_ids is null or account_id = any (c.account_ids))
  ) o where true`);

const ADDRESS = jsonObject('claimed-address-json', {
  from: `(
      select address, max(origin) as origin,
        case when min(account_id) <> '' then array_agg(account_id order by account_id) end as account_ids
      from customer_addresses where customer_id = $customerId and origin <> 'removed'
      group by address order by max(origin) desc, address limit $limit
    ) c`,
  columns: {
    ...columnsOf('c', 'address', 'origin', 'account_ids'),
    registered: othersOfAddress('registered'),
    learned: othersOfAddress('learned'),
  },
}).narrow<{ origin: AddressClaim['origin'] }>();

const DOMAIN = jsonObject('claimed-domain-json', {
  from: 'customer_domains d',
  columns: { domain: 'd.domain', others: othersOf('customer_domains o where o.domain = d.domain') },
});

/**
 * The columns of a row for the customer $customerId, with at most $limit addresses.
 *
 * @param ofAccounts for a caller that may see only the accounts $accountIds: a registration belongs to no account, so such a caller sees
 * the name of a customer that its accounts have mail of, and no rule
 */
export const registrationColumns = (ofAccounts = false): string => `
  (select name from customers where customer_id = $customerId${HAS_MAIL(ofAccounts)}) as name,
  (select company_id from customer_companies where customer_id = $customerId${HAS_MAIL(ofAccounts)}) as company_id,
  ${ofAccounts ? 'null::json' : ADDRESS.array('', 'c.origin desc, c.address')} as addresses,
  ${ofAccounts ? 'null::json' : DOMAIN.array('where d.customer_id = $customerId', 'd.domain')} as domains`;

export interface RegistrationColumns {
  addresses: JsonOf<typeof ADDRESS>[] | null;
  domains: JsonOf<typeof DOMAIN>[] | null;
}

const HAS_MAIL = (ofAccounts: boolean) =>
  ofAccounts
    ? ` and exists (
      select from customer_accounts where customer_id = $customerId and account_id = any ($accountIds::text[])
    )`
    : '';

export const REGISTRATION = statement(
  'customer-registration',
  `select ${registrationColumns()}`,
).narrow<RegistrationColumns>();
type RegistrationRow = RowOf<typeof REGISTRATION>;
