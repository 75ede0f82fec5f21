/**
 * Full-text search over subject, people and body, and indexes for the lists of emails.
 *
 * Triggers put the emails whose words are to be (re)made into `search_queue`, and a worker fills `email_search`: see
 * docs/decisions/0010-search.md.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The words of a long email are kept apart (TOAST).
  `create table email_search (
    email_id uuid primary key references emails on delete cascade,
    thread_id uuid not null,
    date timestamptz not null,
    is_listed boolean not null,
    words tsvector not null
  ) with (toast_tuple_target = 128)`,
  // New entries are collected in a list that every search reads, hence its small bound, in kB.
  `create index email_search_words on email_search using gin (words) with (gin_pending_list_limit = 1024)`,

  // One row for each statement that wrote emails
  `create table search_queue (
    id bigint primary key generated always as identity,
    email_ids uuid[] not null
  )`,

  `create function emails_queue_inserted() returns trigger language plpgsql as $$
  begin
    insert into search_queue (email_ids) select array_agg(e.id) from inserted e having count(*) > 0;
    return null;
  end $$`,
  `create function emails_queue_updated() returns trigger language plpgsql as $$
  begin
    insert into search_queue (email_ids) values (array[new.id]);
    return null;
  end $$`,
  `create trigger emails_queue_inserted after insert on emails
    referencing new table as inserted for each statement execute function emails_queue_inserted()`,
  `create trigger emails_queue_moved after update of thread_id, state, date on emails for each row
    when (old.thread_id <> new.thread_id or old.date <> new.date
      or email_is_listed(old.state) <> email_is_listed(new.state))
    execute function emails_queue_updated()`,
  `create trigger emails_queue_rewritten after update of subject, text_body, from_address, to_addresses, cc_addresses,
      bcc_addresses on emails
    for each row execute function emails_queue_updated()`,

  // What is there already; the newest last, as the worker begins at the end.
  `insert into search_queue (email_ids)
    select array_agg(id order by date) from (
      select id, date, row_number() over (order by date, id) / 100 as part from emails
    ) e group by part order by part`,

  // GET /api/emails, of an account or of all; with the state before the date, each filter is some pieces in order.
  `create index emails_state_date on emails (state, date desc, id desc)`,
  `create index emails_account_date on emails (account_id, state, date desc, id desc)`,
  `drop index emails_date`,
  `drop index emails_state`,
  // GET /api/customer/{id}/emails, also of one direction that a large customer has none of
  `drop index emails_customer`,
  `create index emails_customer on emails (customer_id, direction, date desc, id desc) where customer_id is not null`,
];
