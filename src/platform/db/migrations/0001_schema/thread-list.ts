/**
 * The list of threads and read marks.
 *
 * `thread_summaries` has a row for each thread with a listed email, and `unread_emails` one for each unread email. Only the triggers here
 * maintain both, so code that writes `emails` need not know about them: an insert adds to the existing values, even when several of its
 * emails are in one thread; every other change counts the thread anew (`refresh_thread_summaries`). A row's lock is taken before its emails
 * are counted; an insert meanwhile waits for it and adds to the result.
 *
 * `undelivered_sends` has a row for each send that needs a person because it did not arrive, or may not have. A thread with one is open,
 * whatever its status, until a person or a new attempt dealt with it. If nothing else of the thread is listed, such sends stand in the list.
 *
 * Emails that count as read from the start are not marked as unread first. The insert names them in the setting
 * `email_worker.read_emails` of the transaction, as a uuid array.
 */

/**
 * The aggregates of the emails `e` for the list, one row per thread; the statement continues after `from`. A machine's email neither
 * answers nor waits for an answer. Two emails of the same moment are ordered by identifier.
 */
const SUMMARY_COLUMNS = `
  e.thread_id,
  count(*) filter (where email_is_listed(e.state)) as email_count,
  count(u.email_id) as unread_count,
  bool_or(exists (select from email_attachments a where a.email_id = e.id)) as has_attachments,
  (array_agg(email_activity_at(e.date, e.created_at) order by email_activity_at(e.date, e.created_at) desc, e.id desc))[1]
    as last_activity_at,
  (array_agg(e.id order by email_activity_at(e.date, e.created_at) desc, e.id desc))[1] as newest_email_id,
  (array_agg(e.direction order by email_activity_at(e.date, e.created_at) desc, e.id desc))[1] as newest_direction,
  (array_agg(email_activity_at(e.date, e.created_at) order by email_activity_at(e.date, e.created_at) desc, e.id desc)
    filter (where e.written_by <> 'machine'))[1] as person_at,
  (array_agg(e.id order by email_activity_at(e.date, e.created_at) desc, e.id desc)
    filter (where e.written_by <> 'machine'))[1] as person_email_id,
  (array_agg(e.direction order by email_activity_at(e.date, e.created_at) desc, e.id desc)
    filter (where e.written_by <> 'machine'))[1] as person_direction`;

/** The value of the newest inserted email of a thread that meets `which`; see SUMMARY_COLUMNS. */
const newest = (value: string, which = 'true') =>
  `(array_agg(${value} order by activity_at desc, id desc) filter (where ${which}))[1]`;

export const THREAD_LIST = [
  // Senders whose mail is spam; see areas/rules. One lookup for each received email in a thread of spam.
  `create table blocked_senders (
    id uuid primary key,
    -- In lower case: an address, or \`*@\` and a domain
    sender text collate "C" not null check (length(sender) between 3 and 320),
    -- null: in all accounts
    account_id account_id,
    blocked_at timestamptz(3) not null default clock_timestamp()
  )`,
  `create unique index blocked_senders_sender on blocked_senders (sender, coalesce(account_id, ''))`,
  `create index blocked_senders_list on blocked_senders (blocked_at desc, id desc)`,
  // The entry that names the sender; null: none does
  `create function blocked_sender_id(account text, address text) returns uuid language sql stable
    return (
      select b.id from blocked_senders b
      where b.sender = any (array[lower(address), '*@' || substring(lower(address) from '[^@]*$')])
        and (b.account_id is null or b.account_id = account)
      order by b.sender, b.account_id limit 1
    )`,
  `create function sender_is_blocked(account text, address text) returns boolean language sql stable
    return blocked_sender_id(account, address) is not null`,

  // Emails that certainly did not go out are not listed: LISTED_STATES of core/delivery/states.ts.
  `create function email_is_listed(state text) returns boolean language sql immutable parallel safe
    return state in ('queued', 'sending', 'sent', 'deferred', 'unknown', 'received')`,
  // A date in the future, of a scheduled email or a wrong clock, is no activity yet. In milliseconds, as in cursors.
  `create function email_activity_at(date timestamptz, created_at timestamptz) returns timestamptz
    language sql immutable parallel safe
    return least(date, date_bin('1 millisecond', created_at, '2000-01-01T00:00:00Z'))`,

  // Received, and not read yet
  `create table unread_emails (
    email_id uuid primary key references emails on delete cascade
  )`,

  // Sends that wait for a person: failed, unclear, refused for some recipients, or bounced
  `create table undelivered_sends (
    email_id uuid primary key references emails on delete cascade,
    reason text not null check (reason in ('failed', 'unknown', 'refused', 'bounced'))
  )`,

  // Without a foreign key to the thread: it would be checked for each send, and the emails have one.
  `create table thread_summaries (
    thread_id uuid primary key,
    account_id account_id not null,
    customer_id uuid,
    company_id uuid,
    email_count int not null,
    unread_count int not null,
    has_attachments boolean not null,
    last_activity_at timestamptz not null,
    newest_email_id uuid not null,
    newest_direction text not null,
    person_at timestamptz,
    person_email_id uuid,
    person_direction text,
    -- As in email_threads
    is_done boolean not null default false,
    is_spam boolean not null default false,
    assignee text collate "C",
    labels text[] not null default '{}',
    -- Another one whenever GET /api/thread/{id} gives something else; 0 is of a thread without listed emails
    version bigint not null default 1 + (random() * 9007199254740990)::bigint,
    -- The number of its undelivered_sends
    undelivered int not null default 0,
    -- 1: the newest email is inbound; 2: something is unread; 4: the newest email that a person wrote is inbound;
    -- 8: done, and nothing undelivered; 16, alone: spam, and nothing undelivered
    facets smallint not null generated always as (
      case
        when is_spam and undelivered = 0 then 16
        else (newest_direction = 'inbound')::int
          + 2 * (unread_count > 0)::int
          + 4 * (coalesce(person_direction, '') = 'inbound')::int
          + 8 * (is_done and undelivered = 0)::int
      end
    ) stored
  )`,

  `create function refresh_thread_summaries(ids uuid[]) returns void language plpgsql as $$
  declare
    locked uuid[];
  begin
    loop
      -- Rows to lock, in one order; the counts are filled in below.
      insert into thread_summaries
        (thread_id, account_id, email_count, unread_count, has_attachments, last_activity_at, newest_email_id,
          newest_direction)
      select t.id, t.account_id, 0, 0, false, '-infinity', t.id, 'outbound'
      from email_threads t where t.id = any(ids) order by t.id
      on conflict (thread_id) do nothing;
      locked = array(select thread_id from thread_summaries where thread_id = any(ids) order by thread_id for update);
      -- One that was there may have ended with the last email of its thread while its lock was waited for.
      exit when not exists (select from email_threads t where t.id = any(ids) and t.id <> all(locked));
    end loop;

    update thread_summaries s set
      customer_id = t.customer_id, company_id = t.company_id, email_count = n.email_count,
      unread_count = n.unread_count, has_attachments = n.has_attachments, last_activity_at = n.last_activity_at,
      newest_email_id = n.newest_email_id, newest_direction = n.newest_direction, person_at = n.person_at,
      person_email_id = n.person_email_id, person_direction = n.person_direction, is_done = t.status = 'done',
      is_spam = t.status = 'spam', assignee = t.assignee, labels = t.labels, undelivered = (
        select count(*) from emails e join undelivered_sends x on x.email_id = e.id where e.thread_id = t.id
      )
    from (
      select ${SUMMARY_COLUMNS}
      from emails e left join unread_emails u on u.email_id = e.id
      where e.thread_id = any(ids) and (
        email_is_listed(e.state) or (
          exists (select from undelivered_sends x where x.email_id = e.id)
          and not exists (select from emails l where l.thread_id = e.thread_id and email_is_listed(l.state))
        )
      )
      group by e.thread_id
    ) n join email_threads t on t.id = n.thread_id
    where s.thread_id = n.thread_id;

    delete from thread_summaries s where s.thread_id = any(ids)
      and not exists (
        select from emails e where e.thread_id = s.thread_id
          and (email_is_listed(e.state) or exists (select from undelivered_sends x where x.email_id = e.id))
      );
  end $$`,

  // null: its recipients have it, as far as is known, or it is the answer of an absence, which no person misses. `detail` is what a sent email lacks.
  `create function undelivered_reason(id uuid, state text, detail text) returns text language sql stable
    return case
      when exists (select from absence_answers a where a.answer_id = id) then null
      when state in ('failed', 'unknown') then state
      when state = 'sent' and detail is not null
        and exists (select from email_deliveries d where d.email_id = id and d.state = 'rejected') then 'refused'
    end`,

  // Adding to the row costs less than counting, and does not grow with the thread.
  `create function emails_after_insert() returns trigger language plpgsql as $$
  declare
    read_emails uuid[] = coalesce(nullif(current_setting('email_worker.read_emails', true), ''), '{}')::uuid[];
    reopened uuid[];
    has_labels boolean;
  begin
    insert into unread_emails (email_id)
    select e.id from inserted e
    where e.direction = 'inbound' and email_is_listed(e.state) and e.id <> all (read_emails);

    with written as (
    insert into thread_summaries as s
      (thread_id, account_id, customer_id, company_id, email_count, unread_count, has_attachments, last_activity_at,
        newest_email_id, newest_direction, person_at, person_email_id, person_direction, is_done, is_spam, assignee, labels)
    select t.id, t.account_id, t.customer_id, t.company_id, n.email_count, n.unread_count, n.has_attachments,
      n.last_activity_at, n.newest_email_id, n.newest_direction, n.person_at, n.person_email_id, n.person_direction,
      t.status = 'done', t.status = 'spam', t.assignee, t.labels
    from (
      select thread_id, count(*) as email_count,
        count(*) filter (where direction = 'inbound' and id <> all (read_emails)) as unread_count,
        bool_or(exists (select from email_attachments a where a.email_id = e.id)) as has_attachments,
        max(activity_at) as last_activity_at,
        ${newest('id')} as newest_email_id,
        ${newest('direction')} as newest_direction,
        max(activity_at) filter (where is_by_person) as person_at,
        ${newest('id', 'is_by_person')} as person_email_id,
        ${newest('direction', 'is_by_person')} as person_direction
      from (
        select id, thread_id, direction, written_by <> 'machine' as is_by_person, email_activity_at(date, created_at) as activity_at
        from inserted
        where email_is_listed(state)
      ) e
      group by thread_id
    ) n cross join lateral (
      -- Looked up for each, whatever the plan: the planner does not know how few there are, and would read all threads.
      select * from email_threads where id = n.thread_id offset 0
    ) t
    order by t.id
    on conflict (thread_id) do update set
      email_count = s.email_count + excluded.email_count,
      unread_count = s.unread_count + excluded.unread_count,
      has_attachments = (s.email_count > 0 and s.has_attachments) or excluded.has_attachments,
      version = excluded.version,
      (last_activity_at, newest_email_id, newest_direction) = (
        select
          case when newer then excluded.last_activity_at else s.last_activity_at end,
          case when newer then excluded.newest_email_id else s.newest_email_id end,
          case when newer then excluded.newest_direction else s.newest_direction end
        -- Undelivered sends stand in the list only as long as nothing else does.
        from (select s.email_count = 0
          or (excluded.last_activity_at, excluded.newest_email_id) > (s.last_activity_at, s.newest_email_id) as newer) c
      ),
      (person_at, person_email_id, person_direction) = (
        select
          case when newer then excluded.person_at else s.person_at end,
          case when newer then excluded.person_email_id else s.person_email_id end,
          case when newer then excluded.person_direction else s.person_direction end
        from (select s.email_count = 0 or excluded.person_at is not null and (s.person_at is null
          or (excluded.person_at, excluded.person_email_id) > (s.person_at, s.person_email_id)) as newer) c
      )
    returning thread_id, is_done or is_spam as is_closed, labels
    )
    select array_agg(thread_id) filter (where is_closed), bool_or(labels <> '{}') into reopened, has_labels from written;

    if has_labels then
      insert into labelled_emails (label, direction, date, email_id, account_id)
      select l.label, e.direction, e.date, e.id, e.account_id
      from inserted e join thread_labels l on l.thread_id = e.thread_id
      on conflict do nothing;
    end if;

    -- What a person may have written makes a thread that was done open again, but for old mail that is imported or was read before. The same
    -- for spam, but for a sender who is blocked.
    if reopened is not null then
      update email_threads set status = 'open'
      where id = any (reopened) and status <> 'open' and id in (
        select e.thread_id from inserted e join email_threads t on t.id = e.thread_id
        where (t.status = 'done' or not sender_is_blocked(e.account_id, e.from_address ->> 'address')) and e.direction = 'inbound' and e.written_by <> 'machine' and e.id <> all (read_emails)
          and e.received_by ->> 'way' is distinct from 'import'
      );
    end if;

    if exists (
      select from inserted where direction = 'outbound' and (state in ('failed', 'unknown') or state_detail is not null)
    ) then
      insert into undelivered_sends (email_id, reason)
      select id, undelivered_reason(id, state, state_detail) from inserted
      where direction = 'outbound' and undelivered_reason(id, state, state_detail) is not null;
    end if;
    return null;
  end $$`,

  `create function emails_after_update() returns trigger language plpgsql as $$
  declare
    threads uuid[];
    has_turned boolean;
  begin
    if exists (
      select from before o join after n on n.id = o.id
      where n.direction = 'outbound' and o.state <> n.state and (
        o.state in ('failed', 'unknown') or n.state in ('failed', 'unknown') or n.state_detail is not null
      )
    ) then
      -- Trying again deals with it.
      delete from undelivered_sends x using before o, after n
      where n.id = o.id and x.email_id = n.id and o.state <> n.state and x.reason <> 'bounced'
        and undelivered_reason(n.id, n.state, n.state_detail) is null;
      insert into undelivered_sends as x (email_id, reason)
      select n.id, undelivered_reason(n.id, n.state, n.state_detail) from before o join after n on n.id = o.id
      where n.direction = 'outbound' and o.state <> n.state
        and undelivered_reason(n.id, n.state, n.state_detail) is not null
      on conflict (email_id) do update set reason = excluded.reason where x.reason <> excluded.reason;
    end if;

    select array_agg(distinct c.thread_id), bool_or(o.direction <> n.direction) into threads, has_turned
    from before o join after n on n.id = o.id cross join lateral (values (o.thread_id), (n.thread_id)) c (thread_id)
    where o.thread_id <> n.thread_id or o.date <> n.date or o.direction <> n.direction
      or email_is_listed(o.state) <> email_is_listed(n.state) or (o.written_by = 'machine') <> (n.written_by = 'machine');
    if threads is null then
      return null;
    end if;
    if has_turned then
      -- A copy of a sent email that was first taken for a received one
      delete from unread_emails u using after n where u.email_id = n.id and n.direction = 'outbound';
    end if;
    perform refresh_thread_summaries(threads);
    perform change_thread_versions(threads);
    -- The threads are locked, so their labels stay as they are.
    delete from labelled_emails l using before o join after n on n.id = o.id
    where l.email_id = n.id and (o.thread_id, o.date, o.direction) is distinct from (n.thread_id, n.date, n.direction);
    insert into labelled_emails (label, direction, date, email_id, account_id)
    select l.label, n.direction, n.date, n.id, n.account_id
    from before o join after n on n.id = o.id join thread_labels l on l.thread_id = n.thread_id
    where (o.thread_id, o.date, o.direction) is distinct from (n.thread_id, n.date, n.direction)
    on conflict do nothing;
    update email_json j set thread_id = n.thread_id, is_listed = email_is_listed(n.state)
    from after n where j.email_id = n.id and (j.thread_id <> n.thread_id or j.is_listed <> email_is_listed(n.state));
    perform refresh_email_json(array_agg(n.id))
    from before o join after n on n.id = o.id where o.date <> n.date having count(*) > 0;
    return null;
  end $$`,

  `create function emails_after_delete() returns trigger language plpgsql as $$
  begin
    perform refresh_thread_summaries(array_agg(distinct thread_id)) from before having count(*) > 0;
    return null;
  end $$`,

  `create function email_attachments_after_insert() returns trigger language plpgsql as $$
  begin
    update thread_summaries s set has_attachments = true
    from emails e
    where e.id = new.email_id and s.thread_id = e.thread_id and not s.has_attachments and (
      email_is_listed(e.state)
      or s.email_count = 0 and exists (select from undelivered_sends x where x.email_id = e.id)
    );
    return null;
  end $$`,

  `create function email_threads_after_update() returns trigger language plpgsql as $$
  begin
    update thread_summaries set customer_id = new.customer_id, company_id = new.company_id, is_done = new.status = 'done',
      is_spam = new.status = 'spam', assignee = new.assignee, labels = new.labels
    where thread_id = new.id;
    -- Perhaps one begins at this moment, and does not know of this change.
    if not found then
      perform refresh_thread_summaries(array[new.id]);
    end if;
    return null;
  end $$`,

  `create function undelivered_sends_after_change() returns trigger language plpgsql as $$
  begin
    perform refresh_thread_summaries(array_agg(distinct e.thread_id))
    from changed c join emails e on e.id = c.email_id having count(*) > 0;
    return null;
  end $$`,
  `create trigger undelivered_sends_after_insert after insert on undelivered_sends
    referencing new table as changed for each statement execute function undelivered_sends_after_change()`,
  `create trigger undelivered_sends_after_delete after delete on undelivered_sends
    referencing old table as changed for each statement execute function undelivered_sends_after_change()`,

  `create trigger emails_after_insert after insert on emails
    referencing new table as inserted for each statement execute function emails_after_insert()`,
  `create trigger emails_after_update after update on emails
    referencing old table as before new table as after for each statement execute function emails_after_update()`,
  `create trigger emails_after_delete after delete on emails
    referencing old table as before for each statement execute function emails_after_delete()`,
  `create trigger email_attachments_after_insert after insert on email_attachments
    for each row execute function email_attachments_after_insert()`,
  `create trigger email_threads_after_update after update of customer_id, company_id, status, assignee, labels on email_threads
    for each row when (
      (old.customer_id, old.company_id, old.status, old.assignee, old.labels)
      is distinct from (new.customer_id, new.company_id, new.status, new.assignee, new.labels)
    )
    execute function email_threads_after_update()`,

  // GET /api/threads: all, or those of an account, a customer or a company. With the facets before the time, each combination of the
  // filters reads some ranges of the index, each in order, and merges them.
  `create index thread_summaries_activity on thread_summaries (facets, last_activity_at desc, thread_id desc)`,
  `create index thread_summaries_account
    on thread_summaries (account_id, facets, last_activity_at desc, thread_id desc)`,
  `create index thread_summaries_customer
    on thread_summaries (customer_id, facets, last_activity_at desc, thread_id desc) where customer_id is not null`,
  `create index thread_summaries_company
    on thread_summaries (company_id, facets, last_activity_at desc, thread_id desc) where company_id is not null`,
  `create index thread_summaries_assignee
    on thread_summaries (assignee, facets, last_activity_at desc, thread_id desc) where assignee is not null`,
  // For both answers, even when only old threads give the requested one; the account is compared without reading the row.
  `create index thread_summaries_attachments
    on thread_summaries (has_attachments, facets, last_activity_at desc, thread_id desc) include (account_id)`,
  // GET /api/threads?undelivered=true; few threads have one.
  `create index thread_summaries_undelivered
    on thread_summaries (facets, last_activity_at desc, thread_id desc) where undelivered > 0`,
  // Spam of customers, which may be a mistake
  `create index thread_summaries_spam_of_customers on thread_summaries (account_id)
    where facets = 16 and customer_id is not null`,
  `create index thread_summaries_unassigned
    on thread_summaries (facets, last_activity_at desc, thread_id desc) where assignee is null`,
];
