/**
 * `labelled_emails`: the emails of the threads with a label, newest first, so that GET /api/emails?label= reads one page of them, however
 * many threads have the label and however old they are. Only triggers maintain it: those here when a thread gets a label or loses it, and
 * for new emails that are not listed; those in thread-list.ts for new listed emails, and for all that move or get another date. An email of
 * a thread without labels costs a comparison.
 *
 * Writing here takes the lock of the thread's summary, as changing its labels does: neither misses the other's changes.
 */
export const LABELLED_EMAILS = [
  `create table labelled_emails (
    label text,
    direction text,
    date timestamptz,
    email_id uuid references emails on delete cascade,
    account_id account_id not null,
    primary key (label, direction, date, email_id) include (account_id)
  )`,
  `create index labelled_emails_email on labelled_emails (email_id)`,

  `create function thread_labels_after_write() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into labelled_emails (label, direction, date, email_id, account_id)
      select new.label, e.direction, e.date, e.id, e.account_id from emails e where e.thread_id = new.thread_id
      on conflict do nothing;
    else
      delete from labelled_emails l using emails e
      where e.thread_id = old.thread_id and l.email_id = e.id and l.label = old.label;
    end if;
    return null;
  end $$`,
  `create trigger thread_labels_after_insert after insert on thread_labels
    for each row execute function thread_labels_after_write()`,
  `create trigger thread_labels_after_delete after delete on thread_labels
    for each row execute function thread_labels_after_write()`,

  // An unlisted email does not count for its thread, so nothing has locked the thread's summary.
  `create function emails_labels_after_unlisted() returns trigger language plpgsql as $$
  declare
    has_labels boolean;
  begin
    select labels <> '{}' into has_labels from email_threads where id = new.thread_id for share;
    if has_labels then
      perform refresh_thread_summaries(array[new.thread_id]);
      insert into labelled_emails (label, direction, date, email_id, account_id)
      select l.label, new.direction, new.date, new.id, new.account_id from thread_labels l where l.thread_id = new.thread_id
      on conflict do nothing;
    end if;
    return null;
  end $$`,
  `create trigger emails_labels_after_unlisted after insert on emails
    for each row when (not email_is_listed(new.state)) execute function emails_labels_after_unlisted()`,
];
