/**
 * Full-text search over subject, people, file names and body. Triggers put the emails whose words must be (re)made into `search_queue`, and
 * a worker fills `email_search`: see docs/decisions/0010-search.md.
 */
export const SEARCH = [
  // The words of a long email are stored out of line (TOAST).
  `create table email_search (
    email_id uuid primary key references emails on delete cascade,
    thread_id uuid not null,
    date timestamptz not null,
    is_listed boolean not null,
    words tsvector not null
  ) with (toast_tuple_target = 128)`,
  // New entries are collected in a list that every search reads, hence its small bound, in kB.
  `create index email_search_words on email_search using gin (words) with (gin_pending_list_limit = 1024)`,

  // One row per statement that wrote emails
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
      bcc_addresses, invitation, direction, written_by, authentication on emails
    for each row execute function emails_queue_updated()`,
];
