/** The customer of an email by the rules, for the statements that record emails: `matchAll` of core/customer/match.ts as SQL. */

/** Addresses as the rules spell them. */
const normalised = (address: string): string => `lower(${address} collate "C")`;

/**
 * Counterparties of an email as a text array: its sender, or its recipients without the sender itself. The arguments are SQL: columns of an
 * email, or similar expressions.
 */
export function counterparties(direction: string, from: string, recipients: string): string {
  return `array(
    select distinct ${normalised('a.address')}
    from jsonb_array_elements_text(
      jsonb_path_query_array(case ${direction} when 'inbound' then ${from} else ${recipients} end, '$.address')
    ) as a (address)
    where ${direction} = 'inbound' or ${normalised('a.address')} <> ${normalised(`(${from} ->> 'address')`)}
  )`;
}

/** The domain rules that apply to an address, the exact one first; see domainRulesOf. */
const DOMAIN_RULES = `case when a.address ~ '.@[^@]{1,255}$' then (
    select array_to_string(l.labels, '.') || array(
      select '*.' || array_to_string(l.labels[p.place + 1:], '.')
      from unnest(l.labels) with ordinality as p (label, place)
      where p.place < cardinality(l.labels)
    ) from (select string_to_array(split_part(a.address, '@', -1), '.') as labels) l
  ) end`;

/** Evaluated once per statement: an instance without customers, or without domain rules, pays nothing for them. */
const HAS_DOMAINS = '(select exists (select from customer_domains))';
const HAS_RULES = `(select exists (select from customer_addresses) or ${HAS_DOMAINS})`;

/**
 * A subquery of one row, (customer_id, source): the customer of an email with these counterparties, and the reason. The customer is null
 * with the source `ambiguous` when several have a claim, and null with the source null when none has. Does no work unless `condition`
 * holds.
 *
 * @param accounts an array, as SQL: addresses that were learned for one account count in these
 */
export const matchOf = (addresses: string, accounts: string, condition: string): string => `(
  select
    case when count(distinct best.customer_id) = 1 then min(best.customer_id::text)::uuid end as customer_id,
    case
      when count(distinct best.customer_id) = 1 then
        case when bool_or(best.is_address and best.customer_id is not null) then 'address' else 'domain' end
      when count(*) > 0 then 'ambiguous'
    end as source
  from (
    -- Compared by the collation of the columns: their indexes have that one.
    select given.address collate "default" as address from unnest(${addresses}) as given (address)
  ) a
  cross join lateral (
    select case when count(distinct c.customer_id) = 1 then min(c.customer_id::text)::uuid end as customer_id, bool_or(c.rank < 2) as is_address
    from (
      select claims.*, min(claims.rank) over () as best_rank
      from (
        select customer_id, case origin when 'registered' then 0 else 1 end as rank
        from customer_addresses
        where address = a.address and origin <> 'removed' and (account_id = '' or account_id = any (${accounts}))
        union all
        -- The exact domain, then the longest. The rules of an address are made once, whatever the plan.
        select d.customer_id, case when d.domain like '*%' then 1000 - length(d.domain) else 2 end
        from (select ${DOMAIN_RULES} as rules where ${HAS_DOMAINS} offset 0) r
        cross join lateral (select domain, customer_id from customer_domains where domain = any (r.rules) offset 0) d
      ) claims
    ) c
    where c.rank = c.best_rank
    having count(*) > 0
  ) best
  where ${HAS_RULES} and ${condition}
)`;

/**
 * The four columns of an email's link as SQL, for an email that joins the thread `t` (whose columns are null for a new thread) and has the
 * match `m`; see emailLink in core/customer/link-emails.ts.
 */
export function linkColumns(namedCustomer: string, namedCompany: string): string {
  const customer = `coalesce(${namedCustomer}, t.customer_id, m.customer_id)`;
  return `${customer} as link_customer,
    case
      when ${namedCustomer} is not null then 'explicit'
      when t.customer_id is null or (t.customer_source <> 'explicit' and m.customer_id = t.customer_id) then m.source
      else 'thread'
    end as link_customer_source,
    coalesce(${namedCompany}, case when t.company_source = 'explicit' then t.company_id else c.company_id end)
      as link_company,
    case
      when ${namedCompany} is not null then 'explicit'
      when t.company_source = 'explicit' then 'thread'
      when c.company_id is not null then 'registration'
    end as link_company_source`;
}

/**
 * The joins that linkColumns needs, after `t`. `addresses` is the array of the counterparties, as SQL, and `account` the email's. The rules
 * are looked up where `condition` holds: by default where they may decide.
 */
export function linkJoins(
  namedCustomer: string,
  addresses: string,
  account: string,
  condition = `${namedCustomer} is null and t.customer_source is distinct from 'explicit'`,
): string {
  return `cross join lateral ${matchOf(addresses, `array[${account}]`, condition)} m
    left join customer_companies c on c.customer_id = coalesce(${namedCustomer}, t.customer_id, m.customer_id)`;
}
