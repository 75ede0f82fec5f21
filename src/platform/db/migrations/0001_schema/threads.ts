/**
 * Operators' decisions about threads, and the rows that uphold them: see docs/decisions/0007-thread-decisions.md.
 *
 * A decision gives a label each to the emails and Message-IDs of the threads that it concerns; equal labels belong together, separated ones
 * never do. Labels outlive threads: the thread of a label follows from the links, as for all mail.
 *
 * `refused_links`: threads that mail would have joined, had their parties not differed; see docs/decisions/0016-refused-merges.md.
 */
export const THREADS = [
  `create table thread_decisions (
    id uuid primary key,
    account_id account_id not null,
    kind text not null check (kind in ('split', 'merge', 'move')),
    -- The thread of the request, and the new thread (split) or the one that ended (merge). They may have ended since.
    thread_id uuid not null,
    other_thread_id uuid,
    -- Sorted; empty for a merge
    email_ids uuid[] not null,
    -- The threads that the emails were in; same order
    from_thread_ids uuid[] not null,
    reason text check (length(reason) between 1 and 1000),
    decided_at timestamptz not null default now(),
    check ((other_thread_id is null) = (kind = 'move')),
    check ((email_ids = '{}') = (kind = 'merge')),
    check (cardinality(email_ids) = cardinality(from_thread_ids))
  )`,
  // Finds a repeat of the same request
  `create index thread_decisions_thread on thread_decisions (thread_id, kind, decided_at)`,
  // Decisions about an email, and about a thread that ended
  `create index thread_decisions_emails on thread_decisions using gin (email_ids)`,
  `create index thread_decisions_other on thread_decisions (other_thread_id) where other_thread_id is not null`,

  `create table message_id_labels (
    account_id account_id,
    message_id link_name,
    label uuid not null,
    primary key (account_id, message_id)
  )`,
  `create table email_labels (
    email_id uuid primary key references emails on delete cascade,
    label uuid not null
  )`,
  `create table label_separations (
    label uuid,
    other_label uuid,
    primary key (label, other_label),
    check (label < other_label)
  )`,
  `create index label_separations_other on label_separations (other_label)`,

  `create table refused_links (
    email_id uuid not null references emails on delete cascade deferrable initially deferred,
    message_id message_id not null,
    id uuid not null unique default gen_random_uuid(),
    -- Cursors have milliseconds.
    refused_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (email_id, message_id)
  )`,
  // Newest first
  `create index refused_links_list on refused_links (refused_at desc, id desc)`,
];
