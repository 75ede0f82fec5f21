/** Rules that assign emails to customers, and the indexes that find the past mail that a rule is about. */
export const CUSTOMERS = [
  // An address of two customers decides nothing. `removed`: sends do not teach it again.
  `create table customer_addresses (
    address text,
    customer_id uuid,
    -- The account in which it counts. Empty: all; only sends of keys that are limited to accounts teach for one
    account_id text default '' check (account_id = '' or origin = 'learned'),
    created_at timestamptz not null default now(),
    -- Learned from a send that named the customer, or registered
    origin text not null default 'learned' check (origin in ('learned', 'registered', 'removed')),
    -- Past mail is linked by it
    is_applied boolean not null default false,
    primary key (address, customer_id, account_id),
    -- ASCII letters only: the same in every locale
    check (address = lower(address collate "C"))
  )`,
  `create index customer_addresses_customer on customer_addresses (customer_id, address)`,
  `create index customer_addresses_unapplied on customer_addresses (created_at) where not is_applied`,

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

  // Every customer that has a registration or mail. Customers without a name come last.
  `create table customers (
    customer_id uuid primary key,
    name text check (length(name) between 1 and 200),
    -- Without case and accents; see core/customer/customer-name.ts
    name_key text collate "C" not null default '',
    name_words tsvector not null default '',
    is_unnamed boolean not null generated always as (name is null) stored
  )`,
  `create index customers_list on customers (is_unnamed, name_key, customer_id)`,
  `create index customers_words on customers using gin (name_words) where name is not null`,
  // The accounts that have, or had, mail of a customer
  `create table customer_accounts (
    customer_id uuid,
    account_id account_id,
    primary key (customer_id, account_id)
  )`,
  // Customers are found by the beginning of an address or a domain.
  `create index customer_addresses_beginning on customer_addresses (address text_pattern_ops)`,
  `create index customer_domains_beginning on customer_domains (ltrim(domain, '*.') text_pattern_ops)`,

  // The same number in both while no transaction changes rules; see rules-lock.ts.
  `create sequence customer_rules_versions`,
  `select setval('customer_rules_versions', 1)`,
  `create table customer_rules_version (
    only_row boolean primary key default true check (only_row),
    version bigint not null
  )`,
  `insert into customer_rules_version (version) values (1)`,
  // Emails recorded while rules changed, and sends that were accepted after they were recorded: to be relinked, and to teach. An email may have
  // several marks: one that is added while another is being worked off is never lost.
  `create table customer_relinks (
    id bigint generated always as identity primary key,
    email_id uuid not null references emails on delete cascade
  )`,
  `create index customer_relinks_email on customer_relinks (email_id)`,

  // The counterparties of an email, each written backwards as a word, so that one index finds the emails of an address (the word) and those
  // of a domain and its subdomains (words with that beginning). A text of 250 characters or more is no address, and could exceed the
  // longest word.
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
