/**
 * Reports about sent emails, and the addresses that nothing is sent to.
 *
 * `bounce_reports` has the data of each report, so that the report can be matched again when the sent email is recorded after it.
 * `delivery_reports` has the statements of the matched reports about a recipient; all of them, so that the order in which they came does
 * not matter. A row of `suppressions` stays when the suppression is lifted: `lifted_at` then has the time.
 */
export const REPORTS = [
  `create table bounce_reports (
    report_id uuid primary key references emails on delete cascade,
    account_id account_id not null,
    kind text not null check (kind in ('report', 'complaint')),
    format text not null,
    -- The surest first
    message_ids text[] not null,
    recipients jsonb not null check (jsonb_typeof(recipients) = 'array'),
    -- False: handed in by a key that is limited to accounts. It suppresses no address, for that would concern all accounts
    suppresses boolean not null default true,
    reported_at timestamptz not null,
    -- The email it is about; null until it is found
    email_id uuid references emails on delete set null,
    -- When to look for that; null when it is found, or given up
    next_match_at timestamptz,
    created_at timestamptz not null default now()
  )`,
  `create index bounce_reports_next on bounce_reports (next_match_at) where next_match_at is not null`,

  `create table delivery_reports (
    email_id uuid,
    ordinal int,
    report_id uuid references emails on delete cascade,
    -- See deliveryAddressKey
    address text collate "C" not null,
    outcome text not null check (outcome in (
      'bounced_hard', 'bounced_soft', 'blocked', 'delayed', 'delivered', 'relayed', 'expanded', 'complained'
    )),
    status text check (status ~ '^[245]\\.[0-9]{1,3}\\.[0-9]{1,3}$'),
    diagnostic text not null,
    reported_at timestamptz not null,
    primary key (email_id, ordinal, report_id),
    foreign key (email_id, ordinal) references email_deliveries on delete cascade
  )`,
  // A bounce is work, but for old mail that is imported, and for the answer of an absence, which no person wrote.
  `create function delivery_reports_after_insert() returns trigger language plpgsql as $$
  begin
    insert into undelivered_sends as x (email_id, reason)
    select distinct i.email_id, 'bounced'
    from inserted i join emails r on r.id = i.report_id
    where i.outcome in ('bounced_hard', 'bounced_soft', 'blocked') and r.received_by ->> 'way' is distinct from 'import'
      and not exists (select from absence_answers a where a.answer_id = i.email_id)
    on conflict (email_id) do update set reason = excluded.reason where x.reason <> excluded.reason;
    return null;
  end $$`,
  `create trigger delivery_reports_after_insert after insert on delivery_reports
    referencing new table as inserted for each statement execute function delivery_reports_after_insert()`,
  // For the decision whether a soft bounce is the last straw: soft bounces of one address
  `create index delivery_reports_address on delivery_reports (address, reported_at)
    where outcome in ('bounced_soft', 'delivered')`,
  // GET /api/emails?bounced=true
  `create index delivery_reports_bounced on delivery_reports (email_id)
    where outcome in ('bounced_hard', 'bounced_soft', 'blocked')`,
  // For finding what a received report says, as an erasure does, and for deleting one
  `create index delivery_reports_report on delivery_reports (report_id)`,

  `create table suppressions (
    address text collate "C" primary key check (length(address) <= 320 and address like '%@%'),
    reason text not null check (reason in ('hard_bounce', 'complaint', 'repeated_soft_bounces', 'manual')),
    since timestamptz not null,
    status text,
    diagnostic text not null,
    -- What an operator wrote
    note text,
    email_id uuid references emails on delete set null,
    report_id uuid references emails on delete set null,
    lifted_at timestamptz,
    -- Grows with every change, in the order of commits, so that copies of the list can be kept fresh
    version bigint not null unique
  )`,
  `create index suppressions_active on suppressions (version desc) where lifted_at is null`,
  `create table suppression_clock (version bigint not null)`,
  `create unique index suppression_clock_one on suppression_clock ((true))`,
  `insert into suppression_clock values (0)`,
];
