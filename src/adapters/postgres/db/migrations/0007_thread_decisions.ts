/**
 * What operators decided about threads, and what keeps it: see docs/decisions/0007-thread-decisions.md.
 *
 * A decision gives the emails and Message-IDs of the threads it concerns a label each; equal labels belong together,
 * separated ones never do. Labels outlive threads: which thread a label is in follows from the links, as for all mail.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
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
  // A repeat of the same request
  `create index thread_decisions_thread on thread_decisions (thread_id, kind, decided_at)`,
  // Decisions about an email, and about a thread that ended
  `create index thread_decisions_emails on thread_decisions using gin (email_ids)`,
  `create index thread_decisions_other on thread_decisions (other_thread_id) where other_thread_id is not null`,

  `create table message_id_labels (
    account_id account_id,
    message_id message_id,
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

  // Threads whose mail may lead to one another, but for a separation, have the same cluster
  `alter table email_threads add column cluster_id uuid`,
  `create index email_threads_cluster on email_threads (cluster_id) where cluster_id is not null`,

  `alter table emails
    -- Of the sent email that a report returns
    add column bounced_message_id message_id,
    drop constraint emails_placement_rule_check,
    add constraint emails_placement_rule_check check (
      placement_rule in (
        'thread_id', 'in_reply_to', 'references', 'message_id', 'bounce', 'subject', 'decision', 'new'
      )
    )`,
  `update emails set bounced_message_id = placement_message_id where placement_rule = 'bounce'`,
];
