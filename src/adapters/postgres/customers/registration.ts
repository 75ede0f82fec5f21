/** What is registered for a customer, as a statement reads it. */
import type {
  AddressClaim,
  CustomerRegistration,
  DomainClaim,
} from '../../../app/customers/customer-ports.ts';

export interface RegistrationRow {
  readonly name: string | null;
  readonly company_id: string | null;
  readonly addresses: AddressRow[] | null;
  readonly domains: DomainRow[] | null;
}

interface AddressRow {
  address: string;
  origin: 'registered' | 'learned';
  /** Customers that claim it by hand, and by sends. */
  registered: string[] | null;
  learned: string[] | null;
}

interface DomainRow {
  domain: string;
  others: string[] | null;
}

/** @param limit of the addresses; the row has one more where there are more */
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

function toAddressClaim({ address, origin, registered, learned }: AddressRow): AddressClaim {
  const byHand = registered ?? [];
  const others = origin === 'registered' || byHand.length > 0 ? byHand : (learned ?? []);
  return {
    address,
    origin,
    status:
      others.length === 0 ? 'decides' : origin === 'learned' && byHand.length > 0 ? 'overruled' : 'ambiguous',
    otherCustomerIds: others,
  };
}

function toDomainClaim({ domain, others }: DomainRow): DomainClaim {
  return {
    domain,
    status: others === null ? 'decides' : 'ambiguous',
    otherCustomerIds: others ?? [],
  };
}

const OTHERS = (origin: string) => `(
  select json_agg(customer_id) from (
    select o.customer_id from customer_addresses o
    where o.address = c.address and o.origin = '${origin}' and o.customer_id <> $customerId order by o.customer_id limit 20
  ) o
)`;

/**
 * The columns of a row, of the customer $customerId, with at most $limit addresses.
 *
 * @param ofAccounts for a caller that sees the accounts $accountIds alone: what is registered belongs to no account, so it
 * sees the name of a customer that it has mail of, and no rule
 */
export const registrationColumns = (ofAccounts = false): string => `
  (select name from customers where customer_id = $customerId${HAS_MAIL(ofAccounts)}) as name,
  (select company_id from customer_companies where customer_id = $customerId${HAS_MAIL(ofAccounts)}) as company_id,
  ${ofAccounts ? 'null::json' : ADDRESSES} as addresses, ${ofAccounts ? 'null::json' : DOMAINS} as domains`;

const HAS_MAIL = (ofAccounts: boolean) =>
  ofAccounts
    ? ` and exists (
      select from customer_accounts where customer_id = $customerId and account_id = any ($accountIds::text[])
    )`
    : '';

const ADDRESSES = `(
    select json_agg(json_build_object('address', c.address, 'origin', c.origin,
      'registered', ${OTHERS('registered')}, 'learned', ${OTHERS('learned')})
      order by c.origin desc, c.address)
    from (
      select address, origin from customer_addresses where customer_id = $customerId and origin <> 'removed'
      order by origin desc, address limit $limit
    ) c
  )`;

const DOMAINS = `(
    select json_agg(json_build_object('domain', d.domain, 'others', (
      select json_agg(customer_id) from (
        select o.customer_id from customer_domains o
        where o.domain = d.domain and o.customer_id <> $customerId order by o.customer_id limit 20
      ) o
    )) order by d.domain)
    from customer_domains d where d.customer_id = $customerId
  )`;
