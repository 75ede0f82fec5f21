/** What several customers claim with equal right, and the mail that has no customer because of it. */
import type {
  AmbiguousClaim,
  AmbiguousEmailsQuery,
  ClaimKey,
  CustomerStore,
} from '../../../app/customers/customer-ports.ts';
import { LISTING } from '../emails/email-json.ts';
import { selectPage, toPage, type PageRow } from '../emails/email-pages.ts';
import { addressWords, COUNTERPARTY_WORDS, domainWords } from './find-by-rule.ts';
import type { NamedQuery } from '../db/named-query.ts';

/** Emails of a claim are counted up to here; beyond it the number only says "very many". */
const MAX_COUNTED = 10_000;

interface ClaimRow {
  kind: ClaimKey['kind'];
  value: string;
  customers: string[];
  customer_count: string;
}

export async function listAmbiguous(
  query: NamedQuery,
  after: ClaimKey | null,
  limit: number,
): ReturnType<CustomerStore['listAmbiguous']> {
  const claims = await query<ClaimRow>('ambiguous-claims', AMBIGUOUS_CLAIMS, [
    after?.kind === 'domain' ? null : (after?.value ?? ''),
    after?.kind === 'domain' ? after.value : '',
    limit,
  ]);
  if (claims.length === 0) return [];
  const counts = await query<{ n: string }>('ambiguous-counts', AMBIGUOUS_COUNTS, [
    claims.map(wordsOf),
    MAX_COUNTED,
  ]);
  return claims.map(({ kind, value, customers, customer_count }, index): AmbiguousClaim => ({
    kind,
    value,
    customerIds: customers,
    customerCount: Number(customer_count),
    emailCount: Number(counts[index]?.n ?? 0),
  }));
}

/** The text holds only the conditions that are asked for; see listEmails in send-operations.ts. */
export async function listAmbiguousEmails(
  query: NamedQuery,
  { claim, after, limit }: AmbiguousEmailsQuery,
): ReturnType<CustomerStore['listAmbiguousEmails']> {
  // One more tells whether there is another page.
  const values: unknown[] = [limit + 1];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    `e.customer_source = 'ambiguous'`,
    ...(claim === null ? [] : [`${COUNTERPARTY_WORDS} @@ ${parameter(wordsOf(claim))}::tsquery`]),
    ...(after === null ? [] : [`(e.date, e.id) < (${parameter(after.date)}, ${parameter(after.id)}::uuid)`]),
  ];
  const rows = await query<PageRow>(
    `ambiguous-emails${claim === null ? '' : '-claim'}${after === null ? '' : '-after'}`,
    selectPage(
      LISTING,
      `(
        select e.* from emails e where ${conditions.join(' and ')} order by e.date desc, e.id desc limit $1
      ) e`,
      '$1',
    ),
    values,
  );
  return toPage(query, LISTING, rows, limit);
}

const wordsOf = ({ kind, value }: ClaimKey): string =>
  kind === 'address' ? addressWords(value) : domainWords(value);

/** $1: addresses behind this one, null: none; $2: domains behind this one; $3: limit. */
const AMBIGUOUS_CLAIMS = `
  select kind, value, customers[1:20] as customers, cardinality(customers) as customer_count
  from (
    (
      select 1 as place, 'address' as kind, address as value,
        case when count(*) filter (where origin = 'registered') > 0
          then array_agg(customer_id order by customer_id) filter (where origin = 'registered')
          else array_agg(customer_id order by customer_id)
        end as customers
      from customer_addresses
      where address > $1 and origin <> 'removed'
      group by address
      having count(*) filter (where origin = 'registered') > 1
        or (count(*) > 1 and count(*) filter (where origin = 'registered') = 0)
      order by address
      limit $3
    )
    union all
    (
      select 2, 'domain', domain, array_agg(customer_id order by customer_id)
      from customer_domains
      where domain > $2
      group by domain
      having count(*) > 1
      order by domain
      limit $3
    )
  ) claims
  order by place, value
  limit $3`;

const AMBIGUOUS_COUNTS = `
  select (
    select count(*) from (
      select from emails e where e.customer_source = 'ambiguous' and ${COUNTERPARTY_WORDS} @@ w.words::tsquery limit $2
    ) counted
  ) as n
  from unnest($1::text[]) with ordinality as w (words, place)
  order by w.place`;
