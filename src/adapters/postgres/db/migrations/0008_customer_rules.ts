/**
 * Rules that say whose an email is, where every link comes from, and what finds the past mail that a rule is about.
 *
 * Links of before: a customer of an outbound email is taken for one that its send named, since nothing tells it from
 * the others; so is a thread's that has such an email. The rest came from learned addresses, and all of these are
 * marked as not settled, so that past mail is linked by them anew.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `removed`: a send does not teach it again. `settled`: past mail is linked by it.
  `alter table customer_addresses
    add column origin text not null default 'learned' check (origin in ('learned', 'registered', 'removed')),
    add column settled boolean not null default false,
    drop constraint customer_addresses_address_check,
    -- ASCII letters only: the same in every locale
    add constraint customer_addresses_address_check check (address = lower(address collate "C"))`,
  `create index customer_addresses_customer on customer_addresses (customer_id, address)`,
  `create index customer_addresses_unsettled on customer_addresses (created_at) where not settled`,

  // example.org, or *.example.org for everything below it; A-labels
  `create table customer_domains (
    domain text,
    customer_id uuid,
    created_at timestamptz not null default now(),
    primary key (domain, customer_id),
    check (domain ~ '^([*][.])?[a-z0-9_-]+([.][a-z0-9_-]+)*$')
  )`,
  `create index customer_domains_customer on customer_domains (customer_id, domain)`,

  `create table customer_companies (
    customer_id uuid primary key,
    company_id uuid not null
  )`,

  // The same number in both while no transaction changes rules; see rules-lock.ts.
  `create sequence customer_rules_versions`,
  `select setval('customer_rules_versions', 1)`,
  `create table customer_rules_version (
    only_row boolean primary key default true check (only_row),
    version bigint not null
  )`,
  `insert into customer_rules_version (version) values (1)`,
  // Recorded while rules changed: to be linked anew
  `create table customer_relinks (
    email_id uuid primary key references emails on delete cascade
  )`,

  `alter table email_threads
    add column customer_source text check (customer_source in ('explicit', 'address', 'domain')),
    add column company_source text check (company_source in ('explicit', 'registration'))`,
  `alter table emails
    add column customer_source text
      check (customer_source in ('explicit', 'thread', 'address', 'domain', 'ambiguous')),
    add column company_source text check (company_source in ('explicit', 'thread', 'registration')),
    -- Not the beginning of the transaction: of two emails of a thread, the one that got its lock first is the first.
    alter column created_at set default clock_timestamp()`,
  `update emails set customer_source = 'explicit' where customer_id is not null and direction = 'outbound'`,
  `update emails set company_source = 'explicit' where company_id is not null and direction = 'outbound'`,
  `update email_threads t set
    customer_source = case
      when exists (select from emails e where e.thread_id = t.id and e.customer_id = t.customer_id
        and e.customer_source = 'explicit') then 'explicit'
      else 'address'
    end
    where customer_id is not null`,
  `update email_threads set company_source = 'explicit' where company_id is not null`,
  `update emails e set
    customer_source = case when e.customer_id is null then null
      when t.customer_source = 'explicit' then 'thread' else 'address' end,
    company_source = case when e.company_id is null then null else 'thread' end
    from email_threads t
    where t.id = e.thread_id and e.direction = 'inbound' and (e.customer_id is not null or e.company_id is not null)`,

  // The counterparties of an email, each written backwards as a word, so that one index finds those of an address
  // (the word) and those of a domain and of what is below it (words that begin so). What has 250 characters or more is
  // no address, and could be longer than a word may be.
  `create function counterparty_words(direction text, from_address jsonb, recipients jsonb) returns tsvector
    language sql immutable parallel safe
    return array_to_tsvector(array_remove(string_to_array(right(left(reverse(lower(
      case
        when octet_length(jsonb_path_query_array(
          case direction when 'inbound' then from_address else recipients end, '$.address')::text) < 1000
        then jsonb_path_query_array(
          case direction when 'inbound' then from_address else recipients end, '$.address')::text
        else regexp_replace(left(jsonb_path_query_array(
          case direction when 'inbound' then from_address else recipients end, '$.address')::text, 200000),
          '[^"]{250,}', '', 'g')
      end collate "C")), -2), -2), '" ,"'), ''))`,
  `create index emails_counterparty on emails
    using gin (counterparty_words(direction, from_address, to_addresses || cc_addresses || bcc_addresses))
    with (fastupdate = off)`,
  // The list of ambiguous emails
  `create index emails_ambiguous on emails (date desc, id desc) where customer_source = 'ambiguous'`,
];
