/**
 * Rules on received mail; see docs/decisions/0076-rules-on-received-mail.md.
 *
 * `mail_rule_queue` has a row for each email that the rules have not judged yet, written by the statement that records the email. The
 * transaction that carries out what the rules say deletes the row, so it is done once, whichever processes try. Without a foreign key:
 * deleting an email would wait for a judgement, and a row whose email is gone is deleted by the next.
 */
import { IS_HISTORICAL } from './event-triggers.ts';

export const MAIL_RULES = [
  `create table mail_rules (
    id uuid primary key,
    -- They are judged in this order; gaps mean nothing
    place int not null,
    name text not null check (length(name) between 1 and 100),
    is_active boolean not null,
    -- null: all accounts
    account_ids text[] check (cardinality(account_ids) > 0),
    -- Also for mail of the past; see events
    is_for_historical boolean not null,
    -- See core/rules/rule.ts
    match text not null check (match in ('all', 'any')),
    conditions jsonb not null check (jsonb_typeof(conditions) = 'array'),
    actions jsonb not null check (jsonb_typeof(actions) = 'object'),
    stops boolean not null,
    version int not null default 1 check (version > 0),
    created_at timestamptz(3) not null default clock_timestamp(),
    updated_at timestamptz(3) not null default clock_timestamp()
  )`,
  // One row: changes of the rules take turns
  `create table mail_rule_clock (
    version bigint not null default 0
  )`,
  `create unique index mail_rule_clock_one on mail_rule_clock ((true))`,
  `insert into mail_rule_clock default values`,

  `create table mail_rule_queue (
    id bigint generated always as identity primary key,
    email_id uuid not null,
    is_historical boolean not null,
    -- A process that judges it moves this on; when it is killed, another one tries then
    next_try_at timestamptz not null default now(),
    attempts int not null default 0,
    queued_at timestamptz not null default now()
  )`,
  `create index mail_rule_queue_due on mail_rule_queue (next_try_at, id)`,

  // Also what makes sure that no rule acts on an email twice
  `create table mail_rule_matches (
    email_id uuid not null references emails on delete cascade,
    -- The rule may be deleted since
    rule_id uuid not null,
    rule_name text not null,
    matched_at timestamptz not null default now(),
    -- The fields of the actions that were carried out, and those that could not be
    done text[] not null,
    skipped text[] not null,
    primary key (email_id, rule_id)
  )`,

  // Mail is recorded whatever the rules are: nothing here can fail for a single email.
  `create function emails_rules_after_insert() returns trigger language plpgsql as $$
  begin
    if not exists (select from mail_rules where is_active) and not exists (select from blocked_senders) then
      return null;
    end if;
    insert into mail_rule_queue (email_id, is_historical)
    select id, is_historical from (
      select id, created_at, ${IS_HISTORICAL} as is_historical from inserted e where direction = 'inbound'
    ) e
    where not is_historical or exists (select from mail_rules where is_active and is_for_historical)
    order by created_at, id;
    return null;
  end $$`,
  `create trigger emails_rules_after_insert after insert on emails
    referencing new table as inserted for each statement execute function emails_rules_after_insert()`,
];
