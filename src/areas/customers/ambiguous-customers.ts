/** Rules that several customers claim with equal right, and the mail that has no customer because of them. */
import type { AmbiguousRule, AmbiguousEmailsQuery, RuleKey, CustomerStore } from './customer-ports.ts';
import { LISTING } from '../emails/email-json.ts';
import { selectPage, toPage, type PageColumns } from '../emails/email-pages.ts';
import { addressWords, COUNTERPARTY_WORDS, domainWords } from './find-by-rule.ts';
import { run, statement, statements, type Executor } from '../../platform/db/statement.ts';

/** Emails of a rule are counted up to this number; beyond it, the count only means "very many". */
const MAX_COUNTED = 10_000;

export async function listAmbiguous(
  pool: Executor,
  after: RuleKey | null,
  limit: number,
): ReturnType<CustomerStore['listAmbiguous']> {
  const rules = await run(pool, AMBIGUOUS_CLAIMS, {
    afterAddress: after?.kind === 'domain' ? null : (after?.value ?? ''),
    afterDomain: after?.kind === 'domain' ? after.value : '',
    limit,
  });
  if (rules.length === 0) return [];
  const counts = await run(pool, AMBIGUOUS_COUNTS, { words: rules.map(wordsOf), limit: MAX_COUNTED });
  return rules.map(({ kind, value, customers, customer_count }, index): AmbiguousRule => ({
    kind,
    value,
    customerIds: customers,
    customerCount: Number(customer_count),
    emailCount: Number(counts[index]?.n ?? 0),
  }));
}

export async function listAmbiguousEmails(
  pool: Executor,
  { rule, after, limit }: AmbiguousEmailsQuery,
): ReturnType<CustomerStore['listAmbiguousEmails']> {
  const list = AMBIGUOUS_EMAILS.of({ ofClaim: rule !== null, isNext: after !== null });
  // One more row shows that there is another page.
  const rows = await run(pool, list, {
    limit: limit + 1,
    words: rule === null ? null : wordsOf(rule),
    afterDate: after?.date ?? null,
    afterId: after?.id ?? null,
  });
  return toPage(pool, LISTING, rows, limit);
}

const wordsOf = ({ kind, value }: RuleKey): string =>
  kind === 'address' ? addressWords(value) : domainWords(value);

const AMBIGUOUS_CLAIMS = statement(
  'ambiguous-claims',
  `select kind, value, customers[1:20] as customers, cardinality(customers) as customer_count
  from (
    (
      select 1 as place, 'address' as kind, c.address as value, array_agg(distinct c.customer_id order by c.customer_id) as customers
      from customer_addresses c
      where c.address > $afterAddress and c.origin <> 'removed'
        and (c.origin = 'registered' or not exists (
          select from customer_addresses o where o.address = c.address and o.origin = 'registered'
        ))
        -- Another customer claims it in the same account.
        and exists (
          select from customer_addresses o
          where o.address = c.address and o.customer_id <> c.customer_id and o.origin = c.origin
            and (o.account_id = '' or c.account_id = '' or o.account_id = c.account_id)
        )
      group by c.address
      order by c.address
      limit $limit
    )
    union all
    (
      select 2, 'domain', domain, array_agg(customer_id order by customer_id)
      from customer_domains
      where domain > $afterDomain
      group by domain
      having count(*) > 1
      order by domain
      limit $limit
    )
  ) claims
  order by place, value
  limit $limit`,
).narrow<{ kind: RuleKey['kind']; value: string; customers: string[]; customer_count: number }>();

const AMBIGUOUS_COUNTS = statement(
  'ambiguous-counts',
  `select (
    select count(*) from (
      select from emails e where e.customer_source = 'ambiguous' and ${COUNTERPARTY_WORDS} @@ w.words::tsquery limit $limit
    ) counted
  ) as n
  from unnest($words::text[]) with ordinality as w (words, place)
  order by w.place`,
).narrow<{ n: string }>();

const AMBIGUOUS_EMAILS = statements(
  'ambiguous-emails',
  { ofClaim: [false, true], isNext: [false, true] },
  ({ ofClaim, isNext }) =>
    selectPage(
      LISTING,
      `(
        select e.* from emails e where e.customer_source = 'ambiguous'
          ${ofClaim ? `and ${COUNTERPARTY_WORDS} @@ $words::tsquery` : ''}
          ${isNext ? 'and (e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)' : ''}
        order by e.date desc, e.id desc limit $limit
      ) e`,
      '$limit',
    ),
).narrow<PageColumns>();
